/** The text for a missing value. */
const NO_VALUE = "(sem valor)";

/**
 * The newest value of a rule as the platform's template writes it into an annotation; "(sem valor)" without one.
 *
 * Behaviour: annotations are expanded also when the evaluation failed, and then there are no values; a step without a
 *            number has NaN, which does not equal itself.
 * Units:     `decimals` after the point.
 * Source:    grafana/grafana pkg/services/ngalert/state/template/template.go (`NewValues`, `Expand`), read 2026-11-22.
 */
export function newestValue({ decimals }: { decimals: 0 | 2 }): string {
  const number = `{{ if eq .Value .Value }}{{ printf "%.${decimals}f" .Value }}{{ else }}${NO_VALUE}{{ end }}`;
  return `{{ with $values.B }}${number}{{ else }}${NO_VALUE}{{ end }}`;
}
