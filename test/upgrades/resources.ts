/** Resources of a template, as far as updates need them. */

/** A resource of a template. */
export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: readonly string[] | string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** A template's resources by their logical ids. */
export type Resources = Readonly<Record<string, Resource>>;
