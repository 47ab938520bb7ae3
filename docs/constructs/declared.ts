/**
 * What `@sagemaker-tfs/cdk` exports, as its sources declare it. The compiler reads them; it resolves no import of other
 * packages, so that this takes a second, and types stand as they are written.
 */
import { join } from 'node:path';
import {
  type ClassDeclaration,
  type InterfaceDeclaration,
  isClassDeclaration,
  isConstructorDeclaration,
  isGetAccessorDeclaration,
  isInterfaceDeclaration,
  isMethodDeclaration,
  isMethodSignatureDeclaration,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
  isUnionTypeNode,
  type Node,
  type TypeAliasDeclaration,
  type TypeNode,
} from 'typescript/unstable/ast';
import { API, type Symbol as Declared, type Project, SymbolFlags } from 'typescript/unstable/sync';

const ROOT = join(import.meta.dirname, '..', '..');

/** A prop, a property, or a way in which a type can be written. */
export interface Member {
  readonly name: string;
  /** As it is written, without `readonly` in front. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly isReadonly: boolean;
  readonly meaning: string;
  /** After `@default`. */
  readonly byDefault: string | undefined;
}

/** A method; `name` has its parameters: `grantInvoke(grantee)`. */
export interface Method {
  readonly name: string;
  readonly isStatic: boolean;
  readonly meaning: string;
}

/** A class that apps make, with its props' type. */
export interface DeclaredClass {
  readonly name: string;
  readonly meaning: string;
  /** Undefined if its constructor takes none. */
  readonly props: string | undefined;
  readonly methods: readonly Method[];
  readonly properties: readonly Member[];
}

/** An interface, or a type that is one of several. */
export interface DeclaredType {
  readonly name: string;
  readonly meaning: string;
  /** Members of an interface, those of the interfaces that it extends included. */
  readonly members: readonly Member[];
  /** In place of members: the types that it may be, or the one that it is. */
  readonly alternatives: readonly { readonly type: string; readonly meaning: string }[];
}

/** What a package exports for apps. */
export interface Exports {
  readonly classes: readonly DeclaredClass[];
  readonly types: readonly DeclaredType[];
}

/** Reads the exports of `lib/index.ts`, in the order of their names. @throws Error if a prop says nothing of itself */
export function readExports(): Exports {
  const api = new API({ cwd: ROOT });
  try {
    const config = join(import.meta.dirname, 'tsconfig.json');
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    const index = project?.program.getSourceFile(join(ROOT, 'lib', 'index.ts'));
    const module = index && project?.checker.getSymbolAtLocation(index);
    if (!project || !module) throw new Error('the compiler did not read lib/index.ts.');
    const exported = project.checker
      .getExportsOfModule(module)
      .map((symbol) => aliased(symbol, project))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((symbol) => {
        const node = symbol.declarations[0]?.resolve(project);
        return node ? [{ symbol, node }] : [];
      });
    const reader = readerOf(project);
    return {
      classes: exported.flatMap(({ symbol, node }) =>
        isClassDeclaration(node) ? [reader.classOf(symbol, node)] : [],
      ),
      types: exported.flatMap(({ symbol, node }) =>
        isInterfaceDeclaration(node) || isTypeAliasDeclaration(node)
          ? [reader.typeOf(symbol, node)]
          : [],
      ),
    };
  } finally {
    api.close();
  }
}

function aliased(symbol: Declared, { checker }: Project): Declared {
  return symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function readerOf(project: Project) {
  const { checker } = project;
  return { classOf, typeOf };

  function classOf(symbol: Declared, node: ClassDeclaration): DeclaredClass {
    const maker = node.members.find(isConstructorDeclaration);
    const isPublic = (member: Node) => !/^(?:private|protected)\b/.test(member.getText());
    const shown = node.members.filter(isPublic);
    return {
      name: symbol.name,
      meaning: symbol.getDocumentationComment(checker),
      props: maker?.parameters[2]?.type?.getText(),
      methods: shown.filter(isMethodDeclaration).map((method) => ({
        name: `${method.name.getText()}(${method.parameters.map((one) => one.name.getText()).join(', ')})`,
        isStatic: /^static\b/.test(method.getText()),
        meaning: meaningOf(method.name),
      })),
      properties: [
        ...shown.filter(isPropertyDeclaration),
        ...shown.filter(isGetAccessorDeclaration),
      ].map((one) => memberOf(one.name, one.type, true)),
    };
  }

  function typeOf(
    symbol: Declared,
    node: InterfaceDeclaration | TypeAliasDeclaration,
  ): DeclaredType {
    const named = { name: symbol.name, meaning: symbol.getDocumentationComment(checker) };
    if (isInterfaceDeclaration(node)) {
      return { ...named, members: membersOf(node), alternatives: [] };
    }
    return { ...named, members: [], alternatives: alternativesOf(node.type) };
  }

  function membersOf(node: InterfaceDeclaration): Member[] {
    const own = node.members.flatMap((member) =>
      isPropertySignatureDeclaration(member)
        ? [memberOf(member.name, member.type, !member.postfixToken)]
        : isMethodSignatureDeclaration(member)
          ? [memberOf(member.name, undefined, true)]
          : [],
    );
    const bases = (node.heritageClauses ?? []).flatMap(({ types }) => [...types]);
    return [
      ...own,
      ...bases.flatMap(({ expression, typeArguments }) => inherited(expression, typeArguments)),
    ];
  }

  /** Members of an interface of this package that another one extends, as it is or through `Omit<NAME, 'a' | 'b'>`. */
  function inherited(expression: Node, typeArguments: readonly TypeNode[] = []): Member[] {
    const [whole, left] = typeArguments;
    const isPart = expression.getText() === 'Omit' && whole !== undefined;
    const name = isPart ? whole : expression;
    const symbol = checker.resolveName(name.getText(), SymbolFlags.Type | SymbolFlags.Alias, name);
    const node = symbol && aliased(symbol, project).declarations[0]?.resolve(project);
    if (!node || !isInterfaceDeclaration(node)) return [];
    const without = isPart ? (left?.getText() ?? '') : '';
    return membersOf(node).filter((member) => !without.includes(`'${member.name}'`));
  }

  function memberOf(name: Node, type: TypeNode | undefined, isRequired: boolean): Member {
    const symbol = checker.getSymbolAtLocation(name);
    const tags = symbol?.getJsDocTags(checker) ?? [];
    return {
      name: name.getText(),
      type: type ? written(type) : '',
      isRequired,
      isReadonly: /^(?:static |override |abstract )*(?:readonly|get) /.test(name.parent.getText()),
      meaning: symbol?.getDocumentationComment(checker) ?? '',
      byDefault: tags.find((tag) => tag.name === 'default')?.text,
    };
  }

  function meaningOf(name: Node): string {
    return checker.getSymbolAtLocation(name)?.getDocumentationComment(checker) ?? '';
  }
}

/** The types of a union, each with the comment before it; of another type, the type. */
function alternativesOf(type: TypeNode): { type: string; meaning: string }[] {
  if (!isUnionTypeNode(type)) return [{ type: written(type), meaning: '' }];
  const text = type.getSourceFile().text;
  return type.types.map((one, index) => {
    const before = type.types[index - 1]?.end ?? type.pos;
    const [, comment = ''] = /\/\*\*(.*?)\*\//s.exec(text.slice(before, one.getStart())) ?? [];
    return { type: written(one), meaning: comment.replace(/\s*\n\s*\* ?/g, ' ').trim() };
  });
}

/** A type in one line. */
function written(type: TypeNode): string {
  const line = type
    .getText()
    .replace(/\s+/g, ' ')
    .replace(/\breadonly /g, '');
  return isTypeLiteralNode(type) ? line.replace(/; }$/, ' }') : line;
}

// For tests: the compiler's API comes as ES modules only.
if (process.argv[1] === import.meta.filename) process.stdout.write(JSON.stringify(readExports()));
