/** Where this package lies, seen from its sources and from the bundle in `dist/`. */
import { basename, dirname } from 'node:path';

/** Directory with this package's `package.json`. */
export const PACKAGE_ROOT = basename(__dirname) === 'dist' ? dirname(__dirname) : __dirname;
