/** Where the manifest lies in an archive. */
export const MANIFEST_PATH = 'code/manifest.json';
