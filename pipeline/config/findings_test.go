package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline/finding"
)

func TestFindingsAreShownForPeopleAndForPrograms(t *testing.T) {
	t.Parallel()
	_, err := Parse("x.toml", []byte("version = 1\n\tversoin = 2\n"), LoadOptions{Registry: configRegistry()})
	var found finding.List
	if !errors.As(err, &found) || len(found) != 1 {
		t.Fatalf("findings: %v", err)
	}
	if want := `x.toml:2:2: nothing reads "versoin" (did you mean version?)`; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	var out bytes.Buffer
	if err := found.Format(&out, true); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1mx.toml:2:2:\x1b[0m \x1b[31mnothing reads \"versoin\" (did you mean version?)\x1b[0m\n" +
		"    2 | \tversoin = 2\n      | \t\x1b[31m^^^^^^^\x1b[0m\n"
	if out.String() != want {
		t.Errorf("coloured:\n%q\nwant:\n%q", out.String(), want)
	}
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"pos":{"file":"x.toml","line":2,"column":2},"code":"unknown-key","message":"nothing reads \"versoin\"","hint":"version","source_line":"\tversoin = 2"}]`; string(text) != want {
		t.Errorf("JSON %s, want %s", text, want)
	}
	var one finding.Finding
	if !errors.As(error(found), &one) || one.Code != finding.CodeUnknownKey {
		t.Errorf("a finding cannot be found in the findings: %+v", one)
	}
}

func TestAFileThatIsNotThereIsSaidSo(t *testing.T) {
	t.Parallel()
	if _, err := Load(filepath.Join(t.TempDir(), "none.toml"), LoadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one that says that the file does not exist", err)
	}
}

func TestParseIncludesNothing(t *testing.T) {
	t.Parallel()
	_, err := Parse("x.toml", []byte("version = 1\ninclude = '/dev/null'"), LoadOptions{Registry: configRegistry()})
	if err == nil || !strings.Contains(err.Error(), "x.toml:2:1: only a file can include others") {
		t.Errorf("error %v", err)
	}
}

func TestGraphOfAConfigurationIsFoundByName(t *testing.T) {
	t.Parallel()
	source := "version = 1\n[pipeline.crawl]\nflow = 'urds > print'\n[pipeline.search]\ntitle = 'x'\nflow = 'urds > print'\n"
	o := LoadOptions{Registry: configRegistry(), Run: []string{"search", "search"}, Data: "elsewhere"}
	c, err := Parse("x.toml", []byte(source), o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Data != "elsewhere" {
		t.Errorf("data directory %q, want the one that overrides", c.Data)
	}
	if g, err := c.Graph("search"); err != nil || g.Name != "search" || g.Title != "x" || len(g.Stages) != 2 {
		t.Errorf("graph %+v, %v", g, err)
	}
	for name, want := range map[string]string{
		"crawl": `pipeline "crawl" was not among those to be run`,
		"serch": `there is no pipeline "serch"; there are crawl, search (did you mean search?)`,
	} {
		if _, err := c.Graph(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// Decoding a stage must leave alone what the type's defaults hold, and what other stages have.
func TestOptionsOfOneStageAreNotThoseOfAnother(t *testing.T) {
	t.Parallel()
	r := configRegistry()
	source := `version = 1
[defaults.fetch]
headers.From = "me"
realm.home.user = "me"
[pipeline.a]
flow = "urds > fetch, fetch2 > print"
stage.fetch = { headers = { Accept = "x", Own = "1" }, hosts = ["b"], realm.home.password = "p" }
stage.fetch2 = { type = "fetch" }
`
	for range 2 {
		c, err := Parse("x.toml", []byte(source), LoadOptions{Registry: r, Set: []string{"fetch.headers.Set=1", "fetch.hosts=c"}})
		if err != nil {
			t.Fatal(err)
		}
		g, err := c.Graph("a")
		if err != nil {
			t.Fatal(err)
		}
		one, two := stageOf(g, "fetch").Options.(fetchOptions), stageOf(g, "fetch2").Options.(fetchOptions)
		if len(one.Headers) != 4 || one.Headers["Accept"] != "x" || one.Hosts[0] != "c" || one.Realms["home"].Password.Reveal() != "p" || one.Realms["home"].User != "me" {
			t.Errorf("first stage: %+v", one)
		}
		if len(two.Headers) != 2 || two.Headers["Accept"] != "*/*" || two.Hosts[0] != "a.example" || !two.Realms["home"].Password.IsZero() {
			t.Errorf("second stage: %+v", two)
		}
	}
	if defaults := r.Defaults("fetch").(fetchOptions); len(defaults.Headers) != 1 || defaults.Hosts[0] != "a.example" {
		t.Errorf("defaults of the type: %+v", defaults)
	}
}

func TestAnEmptyListOfPipelinesChecksNone(t *testing.T) {
	t.Parallel()
	src := []byte("version = 1\ndata = \"d\"\n[pipeline.wrong]\nflow = [\"nothing > of > this\"]\n")
	config, err := Parse("pipelines.toml", src, LoadOptions{Registry: configRegistry(), Run: []string{}})
	if err != nil || config.Data != "d" {
		t.Errorf("got %+v, %v", config, err)
	}
	if _, err := Parse("pipelines.toml", src, LoadOptions{Registry: configRegistry()}); err == nil {
		t.Error("nothing was found wrong when all were to be checked")
	}
}

func TestWhatIsWrongWithAClusterIsFoundWhereItStands(t *testing.T) {
	t.Parallel()
	o := LoadOptions{
		Registry: configRegistry(), CheckControl: func(address string) error {
			if !strings.HasPrefix(address, "postgres://") {
				return errors.New("it is no URL of a database")
			}
			return nil
		},
		Env: func(name string) (string, bool) {
			return map[string]string{"HOSTNAME": "webrace-12"}[name], name == "HOSTNAME"
		},
	}
	const tls = "tls = { cert = 'c', key = 'k', ca = 'a' }\n"
	const database = "database = 'postgres://u:hidden@h/db'\n"
	for source, want := range map[string]string{
		"[cluster]\n" + database + "node = 3\n":                       "3",
		"[cluster]\n" + database + "node = '${HOSTNAME}'\n":           "12",
		"[cluster]\n" + database + "node = '7'\nsecrets = '/etc/key'": "7 /etc/key",
		"cluster = 5":                                                    "x.toml:2:1: cluster is a table, [cluster], not an integer",
		"[cluster]\nnode = 0\n":                                          "x.toml:2:2: [cluster] names no database",
		"[cluster]\n" + database:                                         "x.toml:2:2: [cluster] does not say which node this is",
		"[cluster]\ndatabase = ''\nnode = 0\n":                           "x.toml:3:12: database is empty",
		"[cluster]\ndatabase = 5\nnode = 0\n":                            "x.toml:3:12: database takes a string, not an integer",
		"[cluster]\ndatabase = '${NO}'\nnode = 0\n":                      "x.toml:3:13: environment variable NO is not set",
		"[cluster]\ndatabase = 'mysql://h/db'\nnode = 0\n":               "x.toml:3:12: database: it is no URL of a database",
		"control = 'postgres://h/db'\n[cluster]\n" + database + "node=0": "x.toml:2:1: control names a database, and so does [cluster]",
		"[cluster]\n" + database + "node = -1\n":                         `x.toml:4:8: node: "-1" is neither`,
		"[cluster]\n" + database + "node = 'webrace'\n":                  `x.toml:4:8: node: "webrace" is neither`,
		"[cluster]\n" + database + "node = 'webrace-'\n":                 `x.toml:4:8: node: "" is neither`,
		"[cluster]\n" + database + "node = 99999999999\n":                `x.toml:4:8: node: "99999999999" is neither`,
		"[cluster]\n" + database + "node = true\n":                       "x.toml:4:8: node takes a number, or a name that ends in one, not a boolean",
		"[cluster]\n" + database + "node = 0\nsecrets = ''\n":            "x.toml:5:11: secrets is empty",
		"[cluster]\n" + database + "node = 0\nsecret = 'k'\n":            `x.toml:5:1: [cluster] has no "secret", only database, node, secrets, address and tls (did you mean secrets?)`,
		"[cluster]\n" + database + "node = 0\naddress = 'https://h:1'\ntls = { cert = 'c', key = 'k', ca = 'a' }":     "0  h:1 {c k a}",
		"[cluster]\n" + database + "node = 0\naddress = 'https://h:1'\n":                                              "x.toml:5:1: address: nodes are asked by those alone who show a certificate",
		"[cluster]\n" + database + "node = 0\ntls = { cert = 'c', key = 'k', ca = 'a' }":                              "x.toml:5:1: tls is for who reaches this node, and there is no address",
		"[cluster]\n" + database + "node = 0\naddress = 'http://h:1'\n" + tls:                                         `x.toml:5:11: address: "http://h:1" is not where`,
		"[cluster]\n" + database + "node = 0\naddress = 'https://h'\n" + tls:                                          `x.toml:5:11: address: "https://h" is not where`,
		"[cluster]\n" + database + "node = 0\naddress = 'https://h:1/x'\n" + tls:                                      `x.toml:5:11: address: "https://h:1/x" is not where`,
		"[cluster]\n" + database + "node = 0\naddress = 'https://h:0'\n" + tls:                                        `x.toml:5:11: address: "https://h:0" is not where`,
		"[cluster]\n" + database + "node = 0\naddress = 5\n" + tls:                                                    "x.toml:5:11: address takes a string, not an integer",
		"[cluster]\n" + database + "node = 0\naddress = 'https://h:1'\ntls = 'c'":                                     "x.toml:6:7: tls is a table",
		"[cluster]\n" + database + "node = 0\naddress = 'https://h:1'\ntls = { cert = 'c', key = 'k' }":               "x.toml:6:1: tls lacks ca",
		"[cluster]\n" + database + "node = 0\naddress = 'https://h:1'\ntls = { cert = 'c', key = '', ca = 'a' }":      "x.toml:6:27: tls.key is empty",
		"[cluster]\n" + database + "node = 0\naddress = 'https://h:1'\n" + strings.Replace(tls, "}", ", cb = 1 }", 1): `x.toml:6:43: tls has no "cb", only cert, key and ca (did you mean ca?)`,
	} {
		c, err := Parse("x.toml", []byte("version = 1\n"+source), o)
		got := fmt.Sprint(err)
		if c != nil {
			got = strings.TrimSpace(fmt.Sprint(c.Cluster.Node, " ", c.Cluster.Secrets))
			if c.Cluster.Address != "" {
				got += fmt.Sprint("  ", c.Cluster.Address, " ", c.Cluster.TLS)
			}
		}
		if !strings.HasPrefix(got, want) || c != nil && got != want {
			t.Errorf("%q: %s, want %s", source, got, want)
		}
		var found finding.List
		if errors.As(err, &found) && (len(found) != 1 || strings.Contains(found[0].SourceLine, "hidden") || !strings.HasPrefix(found[0].Path, "cluster") && found[0].Path != "control") {
			t.Errorf("%q: found is %+v", source, found)
		}
	}
}

// Where the control store is may be written with a password, which no finding shows, and whose place it keeps.
func TestTheControlStoreIsCheckedAndItsPasswordNotShown(t *testing.T) {
	t.Parallel()
	o := LoadOptions{
		Registry: configRegistry(), CheckControl: func(address string) error {
			if !strings.HasSuffix(address, "/db") {
				return errors.New("it names no database")
			}
			return nil
		},
		Env: func(name string) (string, bool) { return "postgres://u:hidden@host/db", name == "SET" },
	}
	for source, want := range map[string]string{
		"control = 'postgres://u:h@host/db'":           "postgres://u:h@host/db",
		"control = '${SET}'":                           "postgres://u:hidden@host/db",
		"control = '${UNSET:-}'":                       "",
		"control = ''":                                 "",
		"control = 5":                                  "x.toml:2:11: control takes a string, not an integer",
		"control = '${UNSET}'":                         "x.toml:2:12: environment variable UNSET is not set",
		" control = 'postgres://u:hidden@host'":        "x.toml:2:12: control: it names no database",
		"control = 'postgres://h?password=hidden' # x": "x.toml:2:11: control: it names no database",
	} {
		c, err := Parse("x.toml", []byte("version = 1\n"+source+"\n"), o)
		if c != nil && c.Control != want || c == nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %s", source, c, err, want)
		}
		var found finding.List
		if errors.As(err, &found) && (strings.Contains(found[0].SourceLine, "hidden") || len(found[0].SourceLine) != len(source)) {
			t.Errorf("%s: shown as %s", source, found[0].SourceLine)
		}
	}
}
