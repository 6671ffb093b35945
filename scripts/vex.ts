import { readFileSync } from 'node:fs';
import { withSerialNumber } from './serial-number.ts';

/** Why a package's vulnerability can't be exploited in bearerd (CycloneDX 1.6, `impactAnalysisJustification`). */
const JUSTIFICATIONS = [
  'code_not_present',
  'code_not_reachable',
  'requires_configuration',
  'requires_dependency',
  'requires_environment',
  'protected_by_compiler',
  'protected_at_runtime',
  'protected_at_perimeter',
  'protected_by_mitigating_control',
] as const;

/** An entry of `vex.json`: what is known of one vulnerability of a bundled package. */
export interface Statement {
  /** `CVE-2026-1234`, or `GHSA-…` if there is no CVE number. */
  readonly id: string;
  /** The name on npm. */
  readonly package: string;
  readonly state: 'not_affected' | 'exploitable' | 'in_triage';
  /** Required for `not_affected`. */
  readonly justification?: (typeof JUSTIFICATIONS)[number];
  /** In words: how this is known, or what to do. */
  readonly detail: string;
}

interface Bill {
  readonly serialNumber: string;
  readonly version: number;
  readonly metadata: { readonly component: object };
  readonly components: readonly {
    readonly group?: string;
    readonly name: string;
    readonly 'bom-ref': string;
  }[];
}

export const STATEMENTS = JSON.parse(
  readFileSync(new URL('vex.json', import.meta.url), 'utf8'),
) as readonly Statement[];

/**
 * What the vulnerabilities of bundled packages mean for bearerd (VEX, in CycloneDX 1.6). Without statements it says that
 * none is known. It refers to packages in the bill of materials by its serial number (BOM-Link), and has no time.
 *
 * @param billOfMaterials of the bundle, as text
 * @throws Error that names a statement that is incomplete, or about a package that is not in the bundle
 */
export function exploitability(statements: readonly Statement[], billOfMaterials: string): string {
  const { serialNumber, version, metadata, components } = JSON.parse(billOfMaterials) as Bill;
  const refs = Map.groupBy(components, ({ group, name }) =>
    group === undefined ? name : `${group}/${name}`,
  );
  const bill = `${serialNumber.replace('urn:uuid:', 'urn:cdx:')}/${version}`; // BOM-Link
  const vulnerabilities = statements.map((statement) => {
    const affected = refs.get(statement.package);
    if (affected === undefined) throw new Error(`${statement.id}: ${statement.package} is not in the bundle`);
    return vulnerability(
      statement,
      affected.map((component) => `${bill}#${component['bom-ref']}`),
    );
  });
  const document = { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata, vulnerabilities };
  return `${JSON.stringify(withSerialNumber(document), null, 2)}\n`;
}

function vulnerability({ id, state, justification, detail }: Statement, refs: readonly string[]): object {
  const source = /^CVE-\d{4}-\d{4,}$/.test(id)
    ? { name: 'NVD', url: `https://nvd.nist.gov/vuln/detail/${id}` }
    : /^GHSA(?:-[2-9cfghjmpqrvwx]{4}){3}$/.test(id)
      ? { name: 'GitHub Advisories', url: `https://github.com/advisories/${id}` }
      : undefined;
  if (source === undefined) throw new Error(`${id}: neither CVE-YEAR-NUMBER nor GHSA-…`);
  if (!['not_affected', 'exploitable', 'in_triage'].includes(state))
    throw new Error(`${id}: the state is not_affected, exploitable or in_triage`);
  if (state === 'not_affected' && !JUSTIFICATIONS.some((one) => one === justification))
    throw new Error(`${id}: not_affected has a justification: ${JUSTIFICATIONS.join(', ')}`);
  if (detail.trim() === '') throw new Error(`${id}: the detail says how it is known`);
  const analysis = { state, ...(justification !== undefined && { justification }), detail };
  return { id, source, analysis, affects: refs.map((ref) => ({ ref })) };
}
