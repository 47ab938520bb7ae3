/** What a committed SVG shows, with its colors: enough of SVG and CSS for the files that our own programs write. */

type Scheme = 'light' | 'dark';

/** A text or a filled shape. */
export interface Shown {
  readonly text?: string;
  /** Of 0 to 1. */
  readonly color: Rgb;
}

type Rgb = readonly [number, number, number];

export interface Picture {
  readonly ground: Rgb;
  readonly texts: readonly (Shown & { readonly text: string })[];
  readonly shapes: readonly Shown[];
}

/** Rules that set colors, by selector. */
type Rules = ReadonlyMap<string, Readonly<Record<string, string>>>;

const COLORS = /^(?:fill|stroke|opacity)$/;
const HAS_SELECTOR = /^(?:text|\.[\w-]+|\[(?:fill|stroke)="[^"]*"\])$/;
const TRANSPARENT = /^(?:none|transparent)$/;

/** Throws if the file uses what is not understood here, so that no text is left out in silence. */
export function readSvg(svg: string, scheme: Scheme): Picture {
  const rules = rulesOf(svg, scheme);
  const drawn = svg.replaceAll(/<(style|clipPath)\b[\s\S]*?<\/\1>/g, '');
  const looks = (tag: string, attributes: string, inherited: Record<string, string> = {}) => {
    const at = Object.fromEntries(
      [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    ) as Record<string, string>;
    const found: Record<string, string> = { ...inherited };
    for (const name of ['fill', 'stroke', 'opacity', 'fill-opacity', 'stroke-width']) {
      if (at[name] !== undefined) found[name] = at[name];
    }
    const selectors = [
      tag,
      ...(at.class ?? '').split(' ').map((name) => `.${name}`),
      ...['fill', 'stroke'].map((name) => `[${name}="${at[name]}"]`),
    ];
    for (const selector of selectors) Object.assign(found, rules.get(selector));
    return found;
  };
  const [, first = ''] = /<rect([^>]*)>/.exec(drawn) ?? [];
  const ground = rgb(looks('rect', first).fill);
  const color = (look: Record<string, string>) => {
    const part = Number(look.opacity ?? 1);
    const [r, g, b] = rgb(look.fill);
    const over = (top: number, below: number) => top * part + below * (1 - part);
    return [over(r, ground[0]), over(g, ground[1]), over(b, ground[2])] as const;
  };
  const texts = [...drawn.matchAll(/<text\b([^>]*)>([\s\S]*?)<\/text>/g)].flatMap(
    ([, attributes = '', content = '']) => {
      const look = looks('text', attributes);
      const spans = [...content.matchAll(/<tspan\b([^>]*)>([^<]*)<\/tspan>/g)];
      if (spans.length === 0) return [{ text: plain(content), color: color(look) }];
      return spans.map(([, at = '', text = '']) => ({
        text: plain(text),
        color: color(looks('tspan', at, look)),
      }));
    },
  );
  const shapes = [...drawn.matchAll(/<path\b([^>]*)>/g)].flatMap(([, attributes = '']) => {
    const look = looks('path', attributes);
    const isFilled = !TRANSPARENT.test(look.fill ?? '') && look['fill-opacity'] !== '0';
    return isFilled ? [{ color: color(look) }] : [];
  });
  return { ground, texts, shapes };
}

/** WCAG 2.2's ratio of two colors, 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: Rgb): number {
  const [r = 0, g = 0, b = 0] = color.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function rulesOf(svg: string, scheme: Scheme): Rules {
  const css = [...svg.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g)]
    .map(([, text]) => text)
    .join('');
  const media = /@media \(prefers-color-scheme:dark\)\{((?:[^{}]*\{[^{}]*\})*)\}/g;
  const dark = [...css.matchAll(media)].map(([, inside]) => inside).join('');
  // Movement shows texts or hides them, and changes no color.
  const usual = css
    .replaceAll(media, '')
    .replaceAll(/@(?:keyframes|media \(prefers-reduced-motion)[^{]*\{(?:[^{}]*\{[^{}]*\})*\}/g, '');
  const rules = new Map<string, Record<string, string>>();
  for (const [, selector = '', body = ''] of `${usual}${scheme === 'dark' ? dark : ''}`.matchAll(
    /([^{}]+)\{([^{}]*)\}/g,
  )) {
    const set = body
      .split(';')
      .map((rule) => rule.split(':').map((part) => part.trim()))
      .filter(([name = '']) => COLORS.test(name));
    if (set.length === 0) continue;
    if (!HAS_SELECTOR.test(selector.trim())) throw new Error(`not understood: ${selector}`);
    rules.set(selector.trim(), { ...rules.get(selector.trim()), ...Object.fromEntries(set) });
  }
  return rules;
}

function rgb(color: string | undefined): Rgb {
  const [, short] = /^#([\da-f]{3})$/i.exec(color ?? '') ?? [];
  const hex = short ? [...short].map((digit) => digit + digit).join('') : color?.replace('#', '');
  if (!/^[\da-f]{6}$/i.test(hex ?? '')) throw new Error(`no color: ${color}`);
  const [r = 0, g = 0, b = 0] = [0, 2, 4].map(
    (at) => Number.parseInt(hex?.slice(at, at + 2) ?? '', 16) / 255,
  );
  return [r, g, b];
}

function plain(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
