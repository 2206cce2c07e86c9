//go:build unix

package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

// certificates makes an authority, and what it signs for nodes at addresses of this machine, by the commands of the
// page. It returns the option by which a node shows its certificate.
func certificates(t *testing.T, addresses []string, nodes ...string) func(node string) string {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("needs openssl: apt-get install openssl")
	}
	dir := t.TempDir()
	commands := fenced(readFile(t, "../../docs/cluster.md"), "sh")[1]
	var hosts []string
	for _, address := range addresses {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, "IP:"+host)
	}
	for _, replaced := range [][2]string{{"webrace-0 webrace-1", strings.Join(nodes, " ")}, {"DNS:$node", strings.Join(hosts, ",")}} {
		if !strings.Contains(commands, replaced[0]) {
			t.Fatalf("the page has no %s any more", replaced[0])
		}
		commands = strings.ReplaceAll(commands, replaced[0], replaced[1])
	}
	if said, err := shell(dir, commands); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return func(node string) string {
		path := filepath.Join(dir, node)
		return fmt.Sprintf("tls = { cert = %q, key = %q, ca = %q }\n", path+".pem", path+".key", filepath.Join(dir, "ca.pem"))
	}
}

// reachable gives the nodes addresses.
func (c *clusterOf) reachable() {
	c.t.Helper()
	var addresses []string
	for range c.nodes {
		addresses = append(addresses, testutil.FreeAddress(c.t))
	}
	shows := certificates(c.t, addresses, "node-0", "node-1", "node-2")
	for i, config := range c.nodes {
		node := fmt.Sprintf("node = %d\n", i)
		address := fmt.Sprintf("%saddress = \"https://%s\"\n%s", node, addresses[i], shows(fmt.Sprint("node-", i)))
		text := strings.Replace(readFile(c.t, config), node, address, 1)
		writeFile(c.t, config, text)
	}
}

// farApart makes the nodes ones on machines of their own, as far as their partitions are asked for.
func (c *clusterOf) farApart(database string) {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), database)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(c.t.Context())
	if _, err := conn.Exec(c.t.Context(), `UPDATE webrace.node SET place = 'machine-' || i || '.example:/data'`); err != nil {
		c.t.Fatal(err)
	}
}

// said is all that a command says, and how it ends, but for when what it speaks of was.
func saidBy(args ...string) string {
	out, complaints, err := webraceRun(append([]string{"store"}, args...)...)
	out = whenever.ReplaceAllString(out, "TIME")
	if args[0] == "rematch" { // in the order in which documents came, which is another in each crawl
		lines := strings.SplitAfter(out, "\n")
		slices.Sort(lines)
		out = strings.Join(lines, "")
	}
	if args[0] == "urd" { // another crawl may have come by a link to a start before a node began with it
		out = strings.ReplaceAll(out, "unchanged", "changed")
	}
	return whenever.ReplaceAllString(fmt.Sprint(out, "\n---\n", complaints, "\n---\n", err), "TIME")
}

var whenever = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [0-9:]{8} GMT`)

// everyCommand are commands about documents and the frontier, over a federation.
func everyCommand(f *federation, moved string) (all [][]string) {
	page, other := f.url(3, "/a"), f.url(0, "/b/")
	host := strings.TrimPrefix(f.sites[3].URL, "http://")
	for _, line := range []string{
		"cache ls", "cache ls " + f.sites[2].URL, "cache ls http://none.example/", "cache versions " + page, "cache cat " + page,
		"cache cat " + other + " --text", "cache cat " + page + " --header", "cache cat " + page + " --version 7", "cache cat http://none.example/",
		"cache meta " + other + " --json", "cache diff " + page, "cache diff " + page + " 1 1", "cache screenshot " + page,
		"why " + page, "why --json " + other, "why http://none.example/", "why http://none.example/a.pdf", "why " + f.sites[1].URL + "/never", "why " + f.url(4, "/chain"), "why " + moved,
		"explain " + page + " ann", "explain " + other + " nobody", "explain " + moved + " ann",
		"rematch ann", "rematch ann --json --all-versions", "rematch nobody",
		"frontier stats", "frontier stats --json", "frontier stats nothing", "frontier failed", "frontier failed webrace", "frontier rules webrace",
		"scope add deny path /never/ --comment why", "scope list --json", "frontier rules", "scope rm 1", "scope rm 1", "scope list",
		"frontier pause " + host, "frontier stats", "frontier pause " + host, "frontier resume " + host, "frontier stats", "frontier drop none.example",
		"search tea --facets", "search storms --json --facets -n 3 --page 2", "search --sort url harbours", "search harbour teas storm", "search teaa", "search (tea",
		"search --secret bank tea", "gc --dry-run --retention 1h", "gc --json", "gc --max-size=", "cache ls a b", "why",
		"urd list --owner ben", "urd list --owner ann --json", "urd list --select /urd/uri", "urd list --owner nobody",
	} {
		all = append(all, strings.Fields(line))
	}
	return all
}

// Whatever is asked of any node about documents and the frontier of the whole cluster is answered as one machine
// answers it, while the nodes are at rest on one machine, and while they run on machines of their own; searches also
// while they run on one.
func TestClusterEveryCommand(t *testing.T) {
	t.Parallel()
	f := newFederation(t, 12)
	urds := filepath.Join(t.TempDir(), "urds.xml")
	var asks xmlschema.URDs
	asks = append(asks, f.sites[0].asks("ann", "/", depth(4), within(xmlschema.ScopeAny), about("tea", "storms")))
	for i, owner := range []string{"ben", "cat"} {
		asks = append(asks, f.sites[1+i].asks(owner, "/", depth(3), about("tea", "harbours")))
	}
	for i := range 3 {
		f.sites[4+i].handle("/chain", http.RedirectHandler(f.url(5+i, []string{"/chain", "/chain", "/b/2"}[i]), http.StatusFound).ServeHTTP)
	}
	asks = append(asks, f.sites[4].asks("dan", "/chain", depth(2), within(xmlschema.ScopeAny), about("tea")))
	writeFile(t, urds, string(asks.Canonical()))
	data, database := t.TempDir(), postgres.Database(t)
	alone := []string{"--config", "../../pipelines.toml", "--data", data}
	c := newCluster(t, database, 4, 3)
	c.reachable()
	storeCommand(t, append([]string{"urd", "import", urds}, alone...)...)
	c.store(0, "urd", "import", urds)
	startCommand(t, append([]string{"webrace", "search", "--set", "fetch.allow_networks=loopback"}, alone...)...).mustExit(cli.OK)
	f.requests()
	var running []*command
	for i := range c.nodes {
		running = append(running, c.start(i, "search"))
	}
	for _, p := range running {
		p.mustExit(cli.OK)
	}
	commands := everyCommand(f, f.url(5, "/old"))
	compare := func(node int, of ...string) {
		t.Helper()
		for _, args := range commands {
			if of != nil && !slices.Contains(of, args[0]) {
				continue
			}
			want, got := saidBy(append(args, alone...)...), saidBy(append(args, "--config", c.nodes[node])...)
			if got != want {
				t.Errorf("%v of node %d:\n%s\none machine says:\n%s", args, node, got, want)
			}
		}
	}
	compare(0)
	if t.Failed() {
		return
	}
	running = nil
	begin := func(nodes ...int) {
		for _, i := range nodes {
			running = append(running, startCommand(t, "search", "--continuous", "--config", c.nodes[i]))
		}
		for partition := range c.partitions {
			if node := partition % len(c.nodes); slices.Contains(nodes, node) {
				answers := filepath.Join(c.partition(partition), storage.SocketName)
				waitFor(t, func() bool { _, err := os.Lstat(answers); return err == nil }, running[node].said)
			}
		}
	}
	begin(0)
	compare(0, "search") // of a node that runs beside others at rest
	begin(1, 2)
	compare(0, "search") // of nodes that run on one machine
	c.farApart(database)
	compare(1)
	compare(2, "cache", "search", "urd") // the rest goes the same way
	c.mustSearchAsOneMachine(f, alone)
	c.mustExportAsOneMachine(alone)
	c.mustRefuseStrangers()
	running[1].signal(os.Interrupt)
	running[1].mustExit(cli.OK)
	c.mustTellWhoIsAway()
}

// mustSearchAsOneMachine asks 100 searches of the nodes in turn, and holds the hits to a plain reading of the pages.
func (c *clusterOf) mustSearchAsOneMachine(f *federation, alone []string) {
	c.t.Helper()
	pages, ofOnePage := make(map[string]string), []string(nil)
	for _, line := range documents(c.t, alone...) {
		url, _, _ := strings.Cut(line, "\t")
		pages[url] = wordsOf(c.t, url)
		ofOnePage = append(ofOnePage, regexp.MustCompile(`\bw\d+\b`).FindString(pages[url]))
	}
	random := rand.New(rand.NewPCG(3, 30))
	searches := 100
	if testing.Short() {
		searches = 20
	}
	for n := range searches {
		words := []string{"tea", "storms", "harbours", ofOnePage[random.IntN(len(ofOnePage))]}
		random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		words = words[:1+random.IntN(2)]
		args := append([]string{"search", "--json", "-n", fmt.Sprint(1 + random.IntN(100)), "--sort", []string{"relevance", "url", "host"}[random.IntN(3)]}, words...)
		want := saidBy(append(args, alone...)...)
		if got := saidBy(append(args, "--config", c.nodes[n%len(c.nodes)])...); got != want {
			c.t.Fatalf("%v of node %d:\n%s\none machine says:\n%s", args, n%len(c.nodes), got, want)
		}
		if n%10 == 0 {
			c.mustFindWhatIsThere(n%len(c.nodes), words, pages)
		}
	}
}

// mustFindWhatIsThere compares the hits of a query with the pages that have all its words, or some where none has
// all.
func (c *clusterOf) mustFindWhatIsThere(node int, words []string, pages map[string]string) {
	c.t.Helper()
	var want, some, got []string
	for url, text := range pages {
		n := 0
		for _, w := range words {
			if regexp.MustCompile(`(?i)\b` + w + `\b`).MatchString(text) {
				n++
			}
		}
		if n > 0 {
			some = append(some, url)
		}
		if n == len(words) {
			want = append(want, url)
		}
	}
	if want == nil {
		want = some
	}
	decoder := json.NewDecoder(strings.NewReader(c.store(node, append([]string{"search", "--json", "-n", "1000"}, words...)...)))
	for decoder.More() {
		var hit struct{ URL string }
		if err := decoder.Decode(&hit); err != nil {
			c.t.Fatal(err)
		}
		got = append(got, hit.URL)
	}
	slices.Sort(want)
	slices.Sort(got)
	mustBeAlike(c.t, fmt.Sprint("pages with ", words), want, got)
}

// wordsOf asks a site itself for a page, and returns what is on it.
func wordsOf(t *testing.T, url string) string {
	t.Helper()
	return anchor.ReplaceAllString(read(t, url), " ")
}

// mustExportAsOneMachine compares the records of an export of a node with those of one machine, as zcat and grep see
// them.
func (c *clusterOf) mustExportAsOneMachine(alone []string) {
	c.t.Helper()
	dir := c.t.TempDir()
	storeCommand(c.t, append([]string{"cache", "export", "--warc", filepath.Join(dir, "alone.warc.gz")}, alone...)...)
	c.store(1, "cache", "export", "--warc", filepath.Join(dir, "cluster.warc.gz"))
	records := func(name string) []string {
		look := exec.Command("sh", "-c", "zcat "+name+".warc.gz | grep -aE '^(WARC-Type: response|WARC-Target-URI|WARC-Payload-Digest|WARC-Filename)' | sort -u")
		look.Dir = dir
		said, err := look.Output()
		if err != nil {
			c.t.Fatal(err)
		}
		return strings.Split(strings.ReplaceAll(string(said), name, "NAME"), "\n")
	}
	mustBeAlike(c.t, "records of an export", records("alone"), records("cluster"))
}

// mustRefuseStrangers asks a node with the certificate of another authority, and with none.
func (c *clusterOf) mustRefuseStrangers() {
	c.t.Helper()
	text := readFile(c.t, c.nodes[0])
	own := regexp.MustCompile(`tls = .*\n`).FindString(text)
	ca := regexp.MustCompile(`ca = "[^"]*"`)
	stranger := ca.ReplaceAllString(certificates(c.t, []string{"127.0.0.1:1"}, "stranger")("stranger"), ca.FindString(own))
	config := filepath.Join(c.t.TempDir(), "stranger.toml")
	writeFile(c.t, config, strings.Replace(text, own, stranger, 1))
	out, complaints, err := webraceRun("store", "frontier", "stats", "--config", config)
	if err == nil || !strings.Contains(complaints, "node 1 (https://127.") || !strings.Contains(complaints, "node 2 (https://127.") {
		c.t.Errorf("who has another authority's certificate is told\n%s\n%s\n%v", out, complaints, err)
	}
	address := regexp.MustCompile(`https://[^"]*`).FindString(readFile(c.t, c.nodes[1]))
	nobody := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if response, err := nobody.Post(address+remote.Path, "", nil); err == nil {
		c.t.Errorf("who has no certificate is answered %s", response.Status)
	}
}

// mustTellWhoIsAway asks nodes 0 and 2 while node 1 is down.
func (c *clusterOf) mustTellWhoIsAway() {
	c.t.Helper()
	for _, args := range [][]string{{"cache", "ls"}, {"search", "tea"}, {"frontier", "stats"}, {"urd", "list"}} {
		out, complaints, err := webraceRun(append([]string{"store", "--config", c.nodes[0]}, args...)...)
		if out == "" || !strings.Contains(complaints, "node 1 (https://127.") || !strings.Contains(complaints, "missing is what partition 01 has") {
			c.t.Errorf("%v: while a node is down it says\n%s\n%s\n%v", args, out, complaints, err)
		}
	}
	file := filepath.Join(c.t.TempDir(), "some.warc.gz")
	for _, args := range [][]string{{"cache", "ls"}, {"cache", "export", "--warc", file}, {"scope", "add", "deny", "path", "/x/"}} {
		p := startCommand(c.t, append([]string{"store", "--config", c.nodes[0]}, args...)...)
		p.mustExit(cli.Environment)
	}
	if _, err := os.Lstat(file); err == nil {
		c.t.Error("a part of an export is there as if it were all")
	}
	if rules := c.store(0, "scope", "list", "--data", c.partition(0)); strings.Contains(rules, "/x/") {
		c.t.Errorf("a rule is added to some partitions alone: %s", rules)
	}
}

// A node that others cannot reach as its configuration says does not start, and says why.
func TestANodeThatCannotBeReachedSaysWhy(t *testing.T) {
	t.Parallel()
	c := newCluster(t, postgres.Database(t), 4, 3)
	c.reachable()
	address := regexp.MustCompile(`https://([^"]*)`).FindStringSubmatch(readFile(t, c.nodes[0]))[1]
	taken, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	mustRefuse(t, cli.Environment, "address in [cluster]: ", "search", "--config", c.nodes[0])
	text := readFile(t, c.nodes[1])
	for old, says := range map[string]string{`node-1.key`: "no such file", `ca.pem`: "no such file", `key = "`: "tls in [cluster]"} {
		config := filepath.Join(t.TempDir(), "pipelines.toml")
		writeFile(t, config, strings.Replace(text, old, map[bool]string{true: `key = "/etc/hosts`, false: "none"}[old == `key = "`], 1))
		mustRefuse(t, cli.Environment, says, "search", "--config", config)
	}
}

// Of a URL on a host that no crawl came to, whichever partition it is of, why says which crawl would take it, or why
// none would, as one machine does.
func TestWhyAsksThePartitionsThatKnow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.page("/", "All about tea.", "/more")
	urds := filepath.Join(t.TempDir(), "urds.xml")
	for _, scope := range []string{xmlschema.ScopeHost, xmlschema.ScopeAny} {
		writeFile(t, urds, string(xmlschema.URDs(these(s.asks("ann", "/", depth(2), within(scope), about("tea")))).Canonical()))
		alone := []string{"--config", "../../pipelines.toml", "--data", t.TempDir()}
		c := newCluster(t, postgres.Database(t), 8, 1)
		storeCommand(t, append([]string{"urd", "import", urds}, alone...)...)
		c.store(0, "urd", "import", urds)
		startCommand(t, append([]string{"webrace", "--set", "fetch.allow_networks=loopback"}, alone...)...).mustExit(cli.OK)
		c.run()
		for i := range 12 {
			url := fmt.Sprintf("http://host-%d.example/%s", i, []string{"", "a.pdf", "a.exe"}[i%3])
			want := saidBy(append([]string{"why", "--json", url}, alone...)...)
			if got := saidBy("why", "--json", url, "--config", c.nodes[0]); got != want {
				t.Errorf("scope %s: of %s the cluster says\n%s\none machine says\n%s", scope, url, got, want)
			}
		}
	}
}
