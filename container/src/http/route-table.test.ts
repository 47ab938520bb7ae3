import type { ModelTable } from '../multi-model/model-table.ts';
import type { Routes } from './route-match.ts';
import { ROUTES } from './route-table.ts';
import { multiModelRoutes, singleModelRoutes } from './routes.ts';
import type { Services } from './services.ts';

const named = (routes: Routes) =>
  Object.entries(routes)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
    .sort();

test('the table names exactly the routes that are answered', () => {
  // Routes are made from what they need when they are called, not before.
  const services = {} as Services;
  const rows = (...where: string[]) =>
    ROUTES.filter((route) => where.includes(route.where))
      .map(({ method, path }) => `${method} ${path}`)
      .sort();
  expect(named(singleModelRoutes(services))).toEqual(rows('always'));
  expect(named(multiModelRoutes(services, {} as ModelTable))).toEqual(
    rows('always', 'multi-model'),
  );
});
