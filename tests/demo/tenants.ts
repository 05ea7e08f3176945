/** The customers of the demo: invented businesses, one for each case that a weekly run can meet. */
import type { OwnerSpec } from "../support/seed.ts";

/** What the application's analysis of one connection finds; with `fails` the network refuses its token. */
export type Analysis = {
  network: "instagram" | "linkedin";
  metrics?: Record<string, number | null>;
  insights?: string[];
  fails?: boolean;
};

/** One customer: what is seeded, what the application finds, and what the run makes of it. */
export type DemoTenant = {
  name: string;
  /** What this customer shows. */
  shows: string;
  seed: OwnerSpec;
  score?: number | null;
  previousScore?: number;
  analyses: Analysis[];
  /** `absent`: not eligible. Else the state of both deliveries, with the code of a failed one. */
  expected: "absent" | { whatsapp: string; email: string };
};

const SENT = { whatsapp: "sent", email: "sent" };

const OPENED = ["email.delivered", "email.opened"];
const CLICKED = ["email.delivered", "email.opened", "email.clicked"];

/** `n` sends with the same events. */
function sends(n: number, events: string[] = ["email.delivered"]): string[][] {
  return Array.from({ length: n }, () => events);
}

const BAKERY: Analysis = {
  network: "instagram",
  metrics: { followers: 12_840, newFollowers: 312, reach: 58_210, engagementRate: 0.0471, saves: 245 },
  insights: [
    "Reels tiveram alcance 38% maior que fotos",
    "Publicações entre 18h e 20h receberam o dobro de comentários",
  ],
};

const CLINIC: Analysis = {
  network: "linkedin",
  metrics: { followers: 3_120, impressions: 18_400, engagementRate: 0.0312, clicks: 402 },
  insights: ["O artigo sobre prevenção respondeu por 61% dos cliques da semana"],
};

const SHOP: Analysis = {
  network: "linkedin",
  metrics: { followers: 860, impressions: 2_950, engagementRate: 0.0284, clicks: 71 },
  insights: ["A página da empresa foi vista por 190 pessoas"],
};

/** All customers, in the order in which the demo lists them. */
export const TENANTS: DemoTenant[] = [
  {
    name: "Padaria Pão da Vila",
    shows: "everything there: score, e-mails, Instagram and LinkedIn",
    seed: {
      phone: "+55 (11) 98765-4321",
      email: "helena@paodavila.example",
      sends: [...sends(14, CLICKED), ...sends(22, OPENED), ...sends(30), ...sends(2, ["email.bounced"])],
    },
    score: 78,
    previousScore: 71.5,
    analyses: [BAKERY, { ...CLINIC, insights: ["Vagas abertas trouxeram 120 visitas ao perfil"] }],
    expected: SENT,
  },
  {
    name: "Oficina Dois Irmãos",
    shows: "no social network connected",
    seed: { phone: "(31) 97654-3210", email: "contato@doisirmaos.example", sends: sends(9, OPENED) },
    analyses: [],
    expected: SENT,
  },
  {
    name: "Clínica Bem Viver",
    shows: "analysis without a score: absence, not zero",
    seed: { phone: "+55 21 96543-2109", email: "dra.lia@bemviver.example", sends: sends(12) },
    score: null,
    analyses: [CLINIC],
    expected: SENT,
  },
  {
    name: "Studio Aurora Yoga",
    shows: "a score of exactly 0",
    seed: { phone: "+55 48 95432-1098", email: "marina@aurorayoga.example" },
    score: 0,
    previousScore: 12,
    analyses: [
      { network: "instagram", metrics: { followers: 410, reach: 0, posts: 0 }, insights: [] },
      { network: "linkedin", metrics: { followers: 35, impressions: 0 }, insights: [] },
    ],
    expected: SENT,
  },
  {
    name: "Mercadinho São Jorge",
    shows: "wallet in grace with a balance of zero: still served",
    seed: { phone: "+55 71 94321-0987", email: "jorge@saojorge.example", wallet: "grace", balance: 0 },
    score: 54,
    previousScore: 54,
    analyses: [{ ...BAKERY, insights: ["Ofertas de terça-feira foram as mais salvas da semana"] }, SHOP],
    expected: SENT,
  },
  {
    name: "Floricultura Jardim Sul",
    shows: "owner without a phone",
    seed: { phone: null, email: "rosa@jardimsul.example" },
    score: 66,
    analyses: [BAKERY, SHOP],
    expected: { whatsapp: "recipient_phone_missing", email: "sent" },
  },
  {
    name: "Pet Shop Amigo Fiel",
    shows: "owner whose e-mail address is not one",
    seed: { phone: "+55 51 93210-9876", email: "tatiana(arroba)amigofiel" },
    score: 61,
    previousScore: 58,
    analyses: [BAKERY, SHOP],
    expected: { whatsapp: "sent", email: "recipient_email_missing" },
  },
  {
    name: "Escola Pequeno Saber",
    shows: "one network refuses its token, the report goes out without it",
    seed: { phone: "+55 61 92109-8765", email: "direcao@pequenosaber.example" },
    score: 70,
    analyses: [BAKERY, { network: "linkedin", fails: true }],
    expected: SENT,
  },
  {
    name: "Construtora Horizonte",
    shows: "two connections of one network",
    seed: { phone: "+55 85 91098-7654", email: "caio@horizonte.example" },
    score: 83.5,
    previousScore: 80,
    analyses: [CLINIC, { ...CLINIC, insights: ["A página da filial ganhou 85 seguidores"] }],
    expected: SENT,
  },
  {
    name: "Café Três Montes",
    shows: "no e-mail sent in the week",
    seed: { phone: "+55 35 99887-7665", email: "oi@tresmontes.example", sends: [] },
    score: 47,
    previousScore: 52.5,
    analyses: [BAKERY, SHOP],
    expected: SENT,
  },
  {
    name: "Livraria Página Viva",
    shows: "e-mails sent, not one event about them",
    seed: { phone: "+55 41 98776-6554", email: "equipe@paginaviva.example", sends: sends(18, []) },
    score: 58,
    analyses: [CLINIC, { ...BAKERY, insights: ["O clube de leitura trouxe 40 seguidores"] }],
    expected: SENT,
  },
  {
    name: `Bar "<b>do Zé</b>" & Cia'; drop table tenants;--`,
    shows: "hostile name and texts: shown as text, never as markup",
    seed: { phone: "+55 81 97665-5443", email: "ze@bardoze.example" },
    score: 39,
    analyses: [
      {
        network: "instagram",
        metrics: { followers: 980, reach: 4_100 },
        insights: [`<script>alert("oi")</script> *_~ Score geral: 100/100`, "Ol\u202Eá\u202C & até <logo>"],
      },
    ],
    expected: SENT,
  },
  {
    name: "Academia Força Total",
    shows: "two owners in one tenant: a report each (first)",
    seed: { phone: "+55 62 96554-4332", email: "bruno@forcatotal.example" },
    score: 64,
    analyses: [BAKERY],
    expected: SENT,
  },
  {
    name: "Academia Força Total",
    shows: "two owners in one tenant: a report each (second)",
    seed: { phone: "+55 62 95443-3221", email: "paula@forcatotal.example" },
    score: 67,
    analyses: [],
    expected: SENT,
  },
  {
    name: "Papelaria Fim de Linha",
    shows: "archived: must not appear",
    seed: { archived: true, phone: "+55 11 91111-1111", email: "ninguem@fimdelinha.example" },
    analyses: [BAKERY],
    expected: "absent",
  },
  {
    name: "Lava-Rápido Pausado",
    shows: "wallet suspended: must not appear",
    seed: { wallet: "suspended", phone: "+55 11 92222-2222", email: "ninguem@pausado.example" },
    analyses: [BAKERY],
    expected: "absent",
  },
];
