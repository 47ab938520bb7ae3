/** What a `preprocess` declaration means where it says nothing; known without its schema. */
export const PREPROCESS_DEFAULTS = {
  resize: 'stretch',
  padding: 0,
  interpolation: 'bilinear',
  antialias: false,
  shrink: false,
} as const;
