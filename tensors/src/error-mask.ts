/** The array of an npz that is true for each record without an answer: the runtime writes it, the command reads it. */
export const ERROR_MASK = 'error';
