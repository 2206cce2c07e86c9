package control

import "testing"

func TestStatementsForPostgreSQL(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"SELECT a FROM urd WHERE b = ? AND c = ?":                                 "SELECT a FROM webrace.urd WHERE b = $1 AND c = $2",
		"SELECT 1 FROM urd_xml\n\t\tWHERE n = ?1 OR m = ?1":                       "SELECT 1 FROM webrace.urd_xml\n\t\tWHERE n = $1 OR m = $1",
		"INSERT INTO owner VALUES (?) ON CONFLICT (name) DO UPDATE SET quota = 1": "INSERT INTO webrace.owner VALUES ($1) ON CONFLICT (name) DO UPDATE SET quota = 1",
		"SELECT owner FROM mirror JOIN aci USING (seq) WHERE mirror.url = ?":      "SELECT owner FROM webrace.mirror JOIN webrace.aci USING (seq) WHERE mirror.url = $1",
		"DELETE FROM removed WHERE id IN (SELECT value FROM json_each(?))":        "DELETE FROM webrace.removed WHERE id IN (SELECT json_array_elements_text($1::text::json))",
		"SELECT from_counter FROM counters":                                       "SELECT from_counter FROM counters",
		lastACI:                                                                   "SELECT coalesce(max(seq), 0) FROM (SELECT value AS seq FROM webrace.counter WHERE name = 'aci') AS sequence",
	} {
		if got := postgresText(query); got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", query, got, want)
		}
	}
}
