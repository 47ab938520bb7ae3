/** The module that the runtime supplies to handlers; it is part of no bundle. */
export const HANDLER_MODULE = 'sagemaker-tfs/handler';
