/** Bundles the rooms that have no bundle, or one older than a source. */
export declare function freshBundles(rooms: readonly string[]): void;
