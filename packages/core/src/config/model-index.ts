/**
 * Finds the model that a public name stands for: exact name, then alias, then the longest glob (of equally long ones the first
 * in the configuration). Deployments of glob models are made on first use and remembered in a bounded memo, which changes
 * nothing but the time a look-up takes.
 */
import { createDeployment } from "./deployment-template.ts";
import type { DeploymentTemplate } from "./deployment-template.ts";
import { freezeMap } from "./freeze.ts";
import { captureModelId, fillGlob } from "./glob.ts";
import type { Deployment, Model, ResolvedModel, Tiers } from "./snapshot.ts";

/** A model with templates in the place of deployments. */
export interface ModelTemplate extends Omit<Model, "tiers"> {
  readonly tiers: readonly (readonly DeploymentTemplate[])[];
}

/** Most names of glob models that are remembered. */
export const MAX_REMEMBERED_NAMES = 1024;

interface GlobModel {
  readonly model: Model;
  readonly template: ModelTemplate;
}

/** The look-up over one snapshot's models. */
export class ModelIndex {
  readonly models: readonly Model[];
  readonly deployments: ReadonlyMap<string, Deployment>;
  readonly #exact = new Map<string, ResolvedModel>();
  readonly #globs: readonly GlobModel[];
  readonly #remembered = new Map<string, ResolvedModel>();

  constructor(templates: readonly ModelTemplate[]) {
    const models: Model[] = [];
    const globs: GlobModel[] = [];
    const deployments = new Map<string, Deployment>();
    for (const template of templates) {
      const model: Model = Object.freeze({ ...template, tiers: createTiers(template, null) });
      models.push(model);
      for (const deployment of model.tiers.flat())
        if (!deployments.has(deployment.id)) deployments.set(deployment.id, deployment);
      const resolved: ResolvedModel = Object.freeze({ model, name: model.name, tiers: model.tiers });
      if (model.isGlob) globs.push({ model, template });
      // The compiler refuses aliases of globs, and aliases that are names.
      else for (const name of [model.name, ...model.aliases]) this.#exact.set(name, resolved);
    }
    this.models = Object.freeze(models);
    this.deployments = freezeMap(deployments);
    this.#globs = globs.sort((left, right) => right.model.name.length - left.model.name.length);
  }

  /** The model of a public name, or null. */
  find(name: string): ResolvedModel | null {
    return this.#exact.get(name) ?? this.#remembered.get(name) ?? this.#findGlob(name);
  }

  #findGlob(name: string): ResolvedModel | null {
    for (const { model, template } of this.#globs) {
      const captured = captureModelId(template.name, name);
      if (captured === null) continue;
      const resolved: ResolvedModel = Object.freeze({ model, name, tiers: createTiers(template, captured) });
      this.#remember(name, resolved);
      return resolved;
    }
    return null;
  }

  #remember(name: string, resolved: ResolvedModel): void {
    if (this.#remembered.size >= MAX_REMEMBERED_NAMES) {
      const [oldest] = this.#remembered.keys();
      if (oldest !== undefined) this.#remembered.delete(oldest);
    }
    this.#remembered.set(name, resolved);
  }
}

/** With a captured text it takes the place of the star in the upstream models; without one the star stays. */
function createTiers(template: ModelTemplate, captured: string | null): Tiers {
  const fill = (model: string): string => (captured === null ? model : fillGlob(model, captured));
  return Object.freeze(
    template.tiers.map((tier) => Object.freeze(tier.map((each) => createDeployment(each, fill(each.model))))),
  );
}
