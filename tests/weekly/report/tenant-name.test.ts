import { expect, test } from "bun:test";
import { keptTenantName } from "../../../lib/weekly/report/tenant-name.ts";

test.each<[string | null, string | null]>([
  ["Padaria São João & Filhos", "Padaria São João & Filhos"],
  ["  Farmácia\t24\n Horas ", "Farmácia 24 Horas"],
  ["Studio 1999 2024", "Studio 1999 2024"],
  ['O\'Brien <Ltda> "Norte"', 'O\'Brien <Ltda> "Norte"'],
  ["Fulana de Tal 12345678900", "Fulana de Tal"],
  ["Fulana de Tal 123.456.789-00", "Fulana de Tal"],
  ["12.345.678/0001-90 Fulana ME", "Fulana ME"],
  ["Pizzaria +55 (11) 98765-4321", "Pizzaria"],
  ["Pizzaria (11) 3456-7890 Centro", "Pizzaria Centro"],
  ["Loja fulana@client.example", "Loja"],
  ["Loja (fulana@client.example)", "Loja"],
  ["Pizzaria 11 98765–4321", "Pizzaria"],
  ["fulana@client.example", null],
  ["11 98765-4321", null],
  ["", null],
  [" \n", null],
  [null, null],
])("keptTenantName(%p) is %p", (name, kept) => {
  expect(keptTenantName(name)).toBe(kept);
});
