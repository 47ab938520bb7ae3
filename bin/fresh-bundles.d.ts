/** Bundles those of the rooms of which a source is newer than the bundle, or that have none yet. */
export declare function freshBundles(rooms: readonly string[]): void;
