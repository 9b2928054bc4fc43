/** Where the standalone server keeps what outlives it, from the folder it is started in, unless it is told otherwise. */
export const STANDALONE_DATA_DIR = ".dragoman";
