import { describe, expect, jest, test } from '@jest/globals';
import { RequestSignal } from './request-signal.ts';

describe('the signal of a request', () => {
  const gone = new Error('gone');

  test('tells its listeners once, with the first reason', () => {
    const signal = new RequestSignal();
    const heard: unknown[] = [];
    signal.addEventListener('abort', () => heard.push(signal.reason), { once: true });
    expect(() => signal.throwIfAborted()).not.toThrow();
    signal.abort(gone);
    signal.abort(new Error('late'));
    expect(heard).toEqual([gone]);
    expect(signal.aborted).toBe(true);
    expect(() => signal.throwIfAborted()).toThrow(gone);
  });

  test('a listener that was removed hears nothing', () => {
    const signal = new RequestSignal();
    const heard: string[] = [];
    const [one, other] = [() => heard.push('one'), () => heard.push('other')];
    signal.addEventListener('abort', one, { once: true });
    signal.addEventListener('abort', other, { once: true });
    signal.removeEventListener('abort', one);
    signal.abort(gone);
    expect(heard).toEqual(['other']);
  });

  test("a listener that throws keeps no other from the abort; its error is the process's", () => {
    const signal = new RequestSignal();
    const { standard } = signal;
    const later = jest.spyOn(process, 'nextTick').mockImplementationOnce(() => undefined);
    const heard: string[] = [];
    const broken = () => {
      throw new Error('broken');
    };
    signal.addEventListener('abort', broken, { once: true });
    signal.addEventListener('abort', () => heard.push('other'), { once: true });
    signal.abort(gone);
    expect(heard).toEqual(['other']);
    expect(standard.aborted).toBe(true);
    expect(later.mock.calls[0]?.[0]).toThrow('broken');
    later.mockRestore();
  });

  test.each(['before', 'after'])('the standard signal, asked for %s it, aborts alike', (when) => {
    const signal = new RequestSignal();
    const asked = when === 'before' ? signal.standard : undefined;
    signal.abort(gone);
    const { standard } = signal;
    expect(standard).toBeInstanceOf(AbortSignal);
    expect(standard.aborted).toBe(true);
    expect(standard.reason).toBe(gone);
    expect(signal.standard).toBe(asked ?? standard);
  });
});
