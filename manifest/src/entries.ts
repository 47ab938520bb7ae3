/** How many files and folders a model may have, packaged or not: a SavedModel has a handful. */
export const MAX_ENTRIES = 10_000;
