/** An image in a private ECR repository, as its address names it. */
interface EcrImage {
  /** Account of the registry. */
  readonly account: string;
  readonly region: string;
  readonly repository: string;
  readonly tag?: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest?: string;
}

const ADDRESS =
  /^(?<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?<region>[a-z0-9-]+)\.amazonaws\.com(?<china>\.cn)?\/(?<repository>[a-z0-9._/-]+)(?::(?<tag>[\w.-]+))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$/;

/**
 * Reads `ACCOUNT.dkr.ecr.REGION.amazonaws.com/REPOSITORY`, in China `.amazonaws.com.cn`, `:TAG` and `@DIGEST`; undefined
 * for other addresses.
 * @see https://docs.amazonaws.cn/en_us/aws/latest/userguide/endpoints-Beijing.html
 */
export function parseEcrImage(uri: string): EcrImage | undefined {
  const { account, region, china, repository, tag, digest } = ADDRESS.exec(uri)?.groups ?? {};
  if (!account || !region || !repository) return undefined;
  if (region.startsWith('cn-') !== (china !== undefined)) return undefined;
  return { account, region, repository, ...(tag && { tag }), ...(digest && { digest }) };
}
