// Divides the cores of one host between gateway, generator and mock. Sets never overlap between the gateway and the rest.

/** Core sets of the three roles. An empty set means "not pinned". */
export interface CoreAssignment {
  readonly gateway: readonly number[];
  readonly generator: readonly number[];
  readonly mock: readonly number[];
}

/** Divides `cpus`: a single core is shared by all, with two the generator and the mock share one, else half go to the gateway. */
export function assignCores(cpus: readonly number[]): CoreAssignment {
  if (cpus.length < 2) return { gateway: [], generator: [], mock: [] };
  const forGateway = Math.max(1, Math.floor(cpus.length / 2));
  const gateway = cpus.slice(0, forGateway);
  const rest = cpus.slice(forGateway);
  if (rest.length === 1) return { gateway, generator: rest, mock: rest };
  const forGenerator = Math.ceil(rest.length / 2);
  return { gateway, generator: rest.slice(0, forGenerator), mock: rest.slice(forGenerator) };
}

/** Whether generator and mock run on the same cores, so that their CPU shares add up. */
export function shareCores({ generator, mock }: CoreAssignment): boolean {
  return generator.length === 0 || generator.some((cpu) => mock.includes(cpu));
}
