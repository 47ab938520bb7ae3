/** Bundles `lib/` where a source of it is newer than its bundle, or there is none yet. */
require('./fresh-bundles.js').freshBundles(['lib']);
