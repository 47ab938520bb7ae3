/** What kind of manifest an image has in its registry. */

/** The only kinds that SageMaker takes: Docker's, not OCI's, which Docker's newer image store pushes by itself. */
const DOCKER_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
/** Kinds that a registry may have; it answers with the one that was pushed. */
const KINDS = [
  DOCKER_MANIFEST,
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
];

/**
 * @param image `HOST:PORT/NAME:TAG` in a registry without TLS
 * @throws where SageMaker's CreateModel would refuse it
 * @see https://github.com/aws/amazon-sagemaker-feedback/issues/180
 */
export async function checkManifest(image: string): Promise<void> {
  const slash = image.indexOf('/');
  const colon = image.lastIndexOf(':');
  const name = image.slice(slash + 1, colon);
  const url = `http://${image.slice(0, slash)}/v2/${name}/manifests/${image.slice(colon + 1)}`;
  const answer = await fetch(url, { headers: { Accept: KINDS.join(', ') } });
  const { mediaType = '' } = (await answer.json()) as { mediaType?: string };
  const kinds = [answer.headers.get('content-type') ?? '', mediaType];
  if (answer.ok && kinds.every((kind) => kind === DOCKER_MANIFEST)) return;
  throw new Error(
    `${image}: SageMaker takes images whose manifest is ${DOCKER_MANIFEST}; this one is ${kinds.join(' and ')} (${answer.status})`,
  );
}
