package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/cmd/internal/storecmd"
)

// heard is what came of a round of a scenario.
type heard struct {
	alerts  []toldOf
	told    []string // of these: OWNER URL: SUMMARY
	notices []string // OWNER notice URL: STATE: REASON
	mails   []string // OWNER: SUBJECT | TEXT
	said    []string // what each command prints
	views   []string // what commands tell otherwise than the alerts
}

// toldOf is an annotation as `webrace-store aci list --json` prints it.
type toldOf struct {
	ID, URD, Owner, URI, Summary string
	Relevance                    int
	UpdateTime                   time.Time `json:"update_time"`
	Docbase                      struct{ Version, Since int }
	Also                         struct {
		Count     int
		Documents []struct {
			URI     string
			Version int
		}
	}
}

// newsPlay is some scenarios that one process a round watches, in one data directory.
type newsPlay struct {
	data   string
	dir    string // of the configuration, and of notices
	set    []string
	kill   bool
	stages []*newsStage
	known  map[string]bool // the ids of alerts and notices that were told
	post   *newsPost       // nil if nobody expects mails

	mu      sync.Mutex
	process *os.Process
	kills   int // so far
	asked   int // requests of this process
	killAt  int // the request at which it is killed; 0 for none
}

// playNews returns what came of each round of each scenario, and of one more in which nothing changes.
func playNews(situations []*situation, set []string, kill bool, dir string) (map[string][]heard, error) {
	p := &newsPlay{data: filepath.Join(dir, "data"), dir: dir, set: set, kill: kill, known: make(map[string]bool)}
	if slices.ContainsFunc(situations, func(s *situation) bool { return s.isMailed }) {
		post, err := newNewsPost()
		if err != nil {
			return nil, err
		}
		defer post.listener.Close()
		p.post = post
	}
	if err := p.configure(situations); err != nil {
		return nil, err
	}
	rounds := 1
	for _, s := range situations {
		stage := newNewsStage(s, p.ask)
		defer stage.close()
		p.stages = append(p.stages, stage)
		rounds = max(rounds, len(s.rounds)+1)
	}
	played := make(map[string][]heard)
	for i := range rounds {
		if err := p.round(i, played); err != nil {
			return nil, fmt.Errorf("round %d: %w", i+1, err)
		}
	}
	if kill && p.kills == 0 {
		return nil, fmt.Errorf("the process was never killed")
	}
	return played, nil
}

// configure writes the shipped configuration, with notices that go to files, and owners who have addresses.
func (p *newsPlay) configure(situations []*situation) error {
	shipped, err := os.ReadFile("../../pipelines.toml")
	if err != nil {
		return err
	}
	const end = `keyword-filter > aci-emit",`
	text := strings.Replace(string(shipped), end, end+` "keyword-filter.notices > write-file",`, 1)
	if text == string(shipped) {
		return fmt.Errorf("the shipped pipeline webrace has no %s", end)
	}
	text += fmt.Sprintf(`
[pipeline.webrace.stage.write-file]
path = '%s'
[pipeline.news]
flow = ["source-watch > write-file"]
[pipeline.news.stage.write-file]
path = '%s'
`, filepath.Join(p.dir, "notices-of-rules.jsonl"), filepath.Join(p.dir, "notices-of-sources.jsonl"))
	if p.post != nil {
		text += "[pipeline.mail.stage.mail-out.to]\n"
		for _, s := range situations {
			for _, owner := range s.owners() {
				text += fmt.Sprintf("%q = %q\n", owner+"@"+s.name, mailAddress(owner, s.name))
			}
		}
	}
	return os.WriteFile(filepath.Join(p.dir, "pipelines.toml"), []byte(text), 0o600)
}

// round lets the pages of a round hold, watches them, and notes what is told.
func (p *newsPlay) round(i int, played map[string][]heard) error {
	for _, s := range p.stages {
		if i >= len(s.rounds) {
			continue
		}
		s.set(s.rounds[i].pages)
		if err := p.askFor(s, s.rounds[i].urds); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if err := p.watch(i); err != nil {
		return err
	}
	all, err := p.heard()
	if err != nil {
		return err
	}
	for _, s := range p.stages {
		got := all[s.name]
		if got.mails, err = p.mailed(s); err != nil {
			return err
		}
		if i < len(s.rounds) {
			for _, c := range s.rounds[i].commands {
				got.said = append(got.said, p.command(s, c.line))
			}
		}
		played[s.name] = append(played[s.name], got)
	}
	if p.kill {
		return nil
	}
	return p.look(func(v newsViews) error { return v.compare(p.stages, i, played) })
}

// argument is a word of a line, or several between quotes.
var argument = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

func argumentsOf(line string) []string {
	all := argument.FindAllString(line, -1)
	for i, a := range all {
		if a[0] == '\'' || a[0] == '"' {
			all[i] = a[1 : len(a)-1]
		}
	}
	return all
}

// askFor stores URDs: as XML, or a line each, OWNER URL FLAG… of urd add, or OWNER import FILE FLAG… of urd import.
func (p *newsPlay) askFor(s *newsStage, urds string) error {
	if strings.HasPrefix(urds, "<") {
		return p.importFile(s, "urds.xml", s.owned(urds))
	}
	for _, line := range linesOf(urds) {
		words := argumentsOf(line)
		if len(words) < 2 {
			return fmt.Errorf("%s: it is none of OWNER URL FLAG… and OWNER import FILE FLAG…", line)
		}
		owner, what, flags := words[0]+"@"+s.name, words[1], words[2:]
		var err error
		if what == "import" && len(flags) > 0 {
			err = p.importFile(s, flags[0], s.files[flags[0]], append(flags[1:], "--owner", owner)...)
		} else {
			err = p.store(append([]string{"urd", "add", "--url", s.toServer.Replace(s.absolute(what)), "--owner", owner}, flags...)...)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

func (p *newsPlay) importFile(s *newsStage, name, text string, flags ...string) error {
	file := filepath.Join(p.dir, filepath.Base(name))
	if err := os.WriteFile(file, []byte(s.toServer.Replace(text)), 0o600); err != nil {
		return err
	}
	return p.store(append([]string{"urd", "import", file}, flags...)...)
}

// store runs webrace-store in this process, since scenarios run it often.
func (p *newsPlay) store(args ...string) error {
	var out bytes.Buffer
	root := storecmd.New(append(args, "--data", p.data))
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(&out)
	root.SetErr(&out)
	if err := root.ExecuteContext(context.Background()); err != nil {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return nil
}

// command returns what a command of a scenario prints.
func (p *newsPlay) command(s *newsStage, line string) string {
	args := argumentsOf(s.toServer.Replace(line))
	for i, a := range args {
		if slices.Contains(s.owners(), a) {
			args[i] = a + "@" + s.name
		}
	}
	out, err := exec.Command(args[0], append(args[1:], "--data", p.data)...).CombinedOutput()
	if err != nil {
		out = fmt.Appendf(out, "%v\n", err)
	}
	return s.asWritten(string(out))
}

// watch runs the pipelines as a person would. If they are to be killed, it does so before, twice: at a request, or a
// moment after one was answered.
func (p *newsPlay) watch(round int) error {
	rng := rand.New(rand.NewPCG(uint64(round), *newsSeed))
	requests := p.asked // of the run before
	for range 2 {
		if !p.kill {
			break
		}
		if err := p.run(1 + rng.IntN(max(requests, 2*len(p.stages)))); err != nil {
			return err
		}
	}
	return p.run(0)
}

// isUnasked recognizes a run that ends with status 1 because some of the starts, or none, could be asked.
var isUnasked = regexp.MustCompile(`could not be asked|none of the \d+ starts could be asked`)

// run runs the pipelines, until the process is killed at a request, or with 0 to the end.
func (p *newsPlay) run(killAt int) error {
	args := []string{"webrace", "news", "--config", filepath.Join(p.dir, "pipelines.toml"), "--data", p.data, "--set", "fetch.allow_networks=loopback",
		"--set", "frontier.fresh=0s", "--set", "frontier.attempts=1", "--set", "fetch.backoff=1ms", "--set", "fetch.circuit_failures=0"}
	if p.post != nil {
		_, port, _ := net.SplitHostPort(p.post.listener.Addr().String())
		args = slices.Insert(args, 2, "mail")
		for _, option := range []string{"host=127.0.0.1", "port=" + port, "tls=none", "plain=true"} {
			args = append(args, "--set", "mail-out."+option)
		}
	}
	for _, option := range p.set {
		args = append(args, "--set", option)
	}
	c := exec.Command("webrace-run", args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	p.mu.Lock()
	err := c.Start()
	p.process, p.asked, p.killAt = c.Process, 0, killAt
	p.mu.Unlock()
	if err != nil {
		return err
	}
	err = c.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	killed := err != nil && killAt > 0 && p.asked >= killAt
	if p.killAt = 0; killed {
		p.kills++
	}
	if err != nil && !killed && !isUnasked.MatchString(out.String()) {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return nil
}

// ask answers a request, and kills the process that makes it, if it is the one: of those with odd numbers before it is
// answered, of the others a moment after.
func (p *newsPlay) ask(answer func()) {
	p.mu.Lock()
	p.asked++
	dies, number, process := p.asked == p.killAt, p.asked, p.process
	p.mu.Unlock()
	if dies && number%2 == 1 {
		process.Kill()
		return
	}
	answer()
	if dies {
		time.AfterFunc(time.Duration(number%8)*5*time.Millisecond, func() { process.Kill() })
	}
}

// alerts returns the annotations that were not told before.
func (p *newsPlay) alerts() (fresh []toldOf, err error) {
	out, err := exec.Command("webrace-store", "aci", "list", "--json", "--data", p.data).Output()
	if err != nil {
		return nil, fmt.Errorf("aci list: %w", err)
	}
	for line := range bytes.Lines(out) {
		var told toldOf
		if err := json.Unmarshal(line, &told); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		if p.isFresh(told.ID) {
			fresh = append(fresh, told)
		}
	}
	return fresh, nil
}

// heard returns what was told since the last call, by scenario.
func (p *newsPlay) heard() (map[string]heard, error) {
	alerts, err := p.alerts()
	if err != nil {
		return nil, err
	}
	all := make(map[string]heard)
	for _, told := range alerts {
		p.note(told.Owner, func(s *newsStage, owner string) {
			h := all[s.name]
			h.alerts, h.told = append(h.alerts, told), append(h.told, s.alert(owner, told))
			all[s.name] = h
		})
	}
	for _, file := range []string{"notices-of-rules.jsonl", "notices-of-sources.jsonl"} {
		lines, err := os.ReadFile(filepath.Join(p.dir, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for line := range bytes.Lines(lines) {
			var n struct{ ID, State, Owner, URI, Reason string }
			if err := json.Unmarshal(line, &n); err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
			if !p.isFresh(n.ID) {
				continue
			}
			p.note(n.Owner, func(s *newsStage, owner string) {
				h := all[s.name]
				h.notices = append(h.notices, s.asWritten(fmt.Sprintf("%s notice %s: %s: %s", owner, n.URI, n.State, n.Reason)))
				all[s.name] = h
			})
		}
	}
	for _, h := range all {
		slices.Sort(h.told)
	}
	return all, nil
}

// mailed returns the mails of a scenario's owners since the last call.
func (p *newsPlay) mailed(s *newsStage) (all []string, err error) {
	if p.post == nil {
		return nil, nil
	}
	for _, owner := range s.owners() {
		mails, err := p.post.take(mailAddress(owner, s.name))
		if err != nil {
			return nil, err
		}
		for _, said := range mails {
			all = append(all, s.asWritten(owner+": "+said))
		}
	}
	return all, nil
}

// isFresh reports whether what has an id was not told before.
func (p *newsPlay) isFresh(id string) bool {
	isKnown := p.known[id]
	p.known[id] = true
	return !isKnown
}

// note calls a function with the scenario of an owner.
func (p *newsPlay) note(owner string, tell func(s *newsStage, owner string)) {
	owner, name, _ := strings.Cut(owner, "@")
	for _, s := range p.stages {
		if s.name == name {
			tell(s, owner)
		}
	}
}
