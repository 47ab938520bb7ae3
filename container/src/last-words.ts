/** Begins the line on stderr by which the runtime tells people why it ends; the command line repeats it. */
export const LAST_WORDS = 'sagemaker-tfs: ';
