/** Values that the source form of the configuration spells as text. */

/** A duration such as `10s`, `5m` or `250ms`. */
export type DurationText = `${number}${"ms" | "s" | "m" | "h" | "d"}`;

/** A number of bytes, or a size such as `32MiB`. */
export type SizeText = number | `${number}${"B" | "kB" | "KB" | "KiB" | "MB" | "MiB" | "GB" | "GiB"}`;

/** A secret: `env:NAME`, `file:PATH`, or the secret itself. */
export type SecretText = string;
