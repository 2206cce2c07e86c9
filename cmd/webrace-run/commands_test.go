package main

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/webrace/webrace/cmd/internal/storecmd"
)

// commandPages are the pages whose commands are run, with what each takes for granted: commands that come first.
var commandPages = map[string]string{
	"command-line.md": "",
	"crawling.md":     "webrace-run crawl https://example.org/",
	"formats.md":      "",
	"pipelines.md":    "webrace-store urd add --url https://example.org/ --owner eleni --keyword ferry:5",
	"quads.md":        "",
	"reading.md":      "webrace-run crawl https://example.org/",
	"recipes.md":      "",
	"urds.md":         "",
	"usage.md":        "",
}

// notRun are the commands in blocks of these pages that are not run, and why.
var notRun = map[string]string{
	"webrace-store cache screenshot https://shop.example.org/ --output page.png": "needs Chromium, and a page that was rendered: render_test.go",
	`curl -d '{"sensor": "a", "value": 21.5}' http://127.0.0.1:8480/readings`:    "needs the port 8480: TestTheExampleOfWhatOthersSendRuns sends it to another",
}

// runElsewhere are the commands of webrace-run that no block of these pages runs, and what does.
var runElsewhere = map[string]string{
	"demo":  "TestDemoTellsThreeOwnersDifferentThings, TestDataDemoShowsWhoSaysWhat, and a step of .ci/run",
	"store": "is webrace-store, whose commands TestNothingIsRemovedByAnyCommand runs; the script store.txtar",
	"stage": "speaks with a stage exec: TestAServedStageGivesWhatItGivesInAPipeline",
	"tap":   "wants a run that goes on: TestARunningCrawlIsWatched",
	"top":   "wants a run that goes on: TestARunningCrawlIsWatched",
}

// TestTheCommandsOfThePagesRun does what the pages describe, each in a directory of its own: the commands of its
// blocks, in their order. The hosts that they name are a site of the test, behind a proxy that the configuration names.
func TestTheCommandsOfThePagesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred processes: not in short mode")
	}
	t.Parallel()
	config := configBehind(t, everyHost(t))
	skipped := make(map[string]bool)
	for page, before := range commandPages {
		text := readFile(t, filepath.Join("..", "..", "docs", page))
		var commands []string
		for _, command := range commandsOf(text) {
			plain := strings.TrimSpace(strings.Split(command, " # ")[0])
			if _, skip := notRun[plain]; skip {
				skipped[plain] = true
			} else {
				commands = append(commands, command)
			}
		}
		if len(commands) == 0 {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "pipelines.toml"), config)
			writeFile(t, filepath.Join(dir, "pipelines_test.toml"), readFile(t, "../../pipelines_test.toml"))
			for _, name := range []string{"api.token", "club.password"} {
				writeFile(t, filepath.Join(dir, name), "secret\n")
			}
			if documents := fenced(text, "xml"); len(documents) > 0 {
				writeFile(t, filepath.Join(dir, "interests.xml"), documents[0])
			}
			if said, err := shell(dir, before+"\n"+strings.Join(commands, "\n"), "WEBRACE_CONTACT=https://example.com/about-me"); err != nil {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
	for command := range notRun {
		if !skipped[command] {
			t.Errorf("no page has the command that is not to be run: %s", command)
		}
	}
}

// shell runs commands up to the first that fails, and returns what it, they and their errors print.
func shell(dir, commands string, environment ...string) (said string, err error) {
	sh := exec.Command("sh", "-e", "-x", "-c", commands)
	sh.Dir, sh.Env = dir, append(os.Environ(), environment...)
	sh.Stdin = strings.NewReader("secret\n") // for the first that asks for one
	out, err := sh.CombinedOutput()
	return string(out), err
}

// everyHost returns the address of a proxy behind which all hosts are one small site, by http and https. Its start page
// is another one each time.
func everyHost(t *testing.T) string {
	t.Helper()
	s, visits := newSite(t), 0
	s.handle("/", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		visits++
		body := document("The ferry leaves.", fmt.Sprintf("You are visitor %d.", visits), "/news/", "/gone.html", "/prices.pdf")
		s.mu.Unlock()
		serveDocument(w, r, body)
	})
	s.page("/news/", "News of the ferry.")
	s.file("/robots.txt", "text/plain", []byte("User-agent: *\nContent-Signal: search=yes, ai-train=no\n"))
	s.status("/gone.html", http.StatusGone)
	s.file("/sitemap.xml", "application/xml", []byte(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/news/</loc></url></urlset>`))
	secured := httptest.NewTLSServer(s.Config.Handler)
	t.Cleanup(secured.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			s.serve(w, r)
			return
		}
		far, err := net.Dial("tcp", secured.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer far.Close()
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer near.Close()
		fmt.Fprint(near, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			io.Copy(far, near)
			far.Close()
		}()
		io.Copy(near, far)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// configBehind returns the shipped configuration, with a proxy through which hosts are asked without a pause.
func configBehind(t *testing.T, proxy string) string {
	t.Helper()
	const table = "[defaults.fetch]\n"
	shipped := readFile(t, "../../pipelines.toml")
	if strings.Count(shipped, table) != 1 {
		t.Fatalf("pipelines.toml has not one %s", table)
	}
	return strings.Replace(shipped, table, table+fmt.Sprintf("proxy = %q\nproxy_resolves = true\ninsecure_hosts = [\"*\"]\ndelay = \"0s\"\nadaptive_delay = 0\n", proxy), 1)
}

// TestEveryCommandIsRun looks for each command of webrace-run in the blocks of pages that tests run. Those of
// webrace-store are all run by TestNothingIsRemovedByAnyCommand.
func TestEveryCommandIsRun(t *testing.T) {
	t.Parallel()
	run, programs := make(map[string]bool), programTrees()
	for _, page := range slices.AppendSeq([]string{"plugins.md"}, maps.Keys(commandPages)) {
		for _, line := range commandsOf(readFile(t, filepath.Join("..", "..", "docs", page))) {
			if c, err := commandNamed(programs, line); err == nil {
				run[c.Name()] = true
			}
		}
	}
	run["run"] = run["webrace-run"] // as which it is understood
	for _, name := range leaves(newRoot()) {
		if run[name] == (runElsewhere[name] != "") {
			t.Errorf("webrace-run %s: that a page runs it is %t, and of what else does is said %q", name, run[name], runElsewhere[name])
		}
	}
}

// TestCommandsThatPagesNameExist looks at commands in sentences, tables and blocks of all pages, which mostly have
// placeholders: the command is there, and so are its flags. In the pages above, whole commands stand in blocks of sh.
func TestCommandsThatPagesNameExist(t *testing.T) {
	t.Parallel()
	repository, programs := os.DirFS("../.."), programTrees()
	for _, page := range pagesOf(t, repository) {
		content, err := fs.ReadFile(repository, page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		if _, runs := commandPages[strings.TrimPrefix(page, "docs/")]; runs {
			for _, line := range regexp.MustCompile(`(?m)^ +(webrace-\w+|curl) .*`).FindAllString(inShell.ReplaceAllString(text, ""), -1) {
				t.Errorf("%s: a command that no test runs, since it does not stand in a block of sh: %s", page, line)
			}
		}
		for _, line := range regexp.MustCompile("`webrace-(?:run|store) [^`]+`|(?m)^ *(?:\\$ )?webrace-(?:run|store) .*").FindAllString(text, -1) {
			if _, err := commandNamed(programs, strings.Trim(line, "`$ ")); err != nil {
				t.Errorf("%s: %s: %v", page, line, err)
			}
		}
	}
}

// TestThePageOnTheCommandLineHasEveryCommand looks at the first cells of its tables: commands without their program,
// and their flags.
func TestThePageOnTheCommandLineHasEveryCommand(t *testing.T) {
	t.Parallel()
	text, programs := readFile(t, "../../docs/command-line.md"), programTrees()
	for program, root := range programs {
		_, section, _ := strings.Cut(text, "\n## "+program+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		has := make(map[string]bool)
		group := ""
		for line := range strings.Lines(section) {
			cell, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			if !row || !strings.HasPrefix(line, "| ") {
				continue
			}
			before := program
			for _, span := range codeSpan.FindAllString(strings.ReplaceAll(cell, `\|`, "|"), -1) {
				span = strings.Trim(span, "`")
				switch first, _, _ := strings.Cut(span, " "); {
				case strings.HasPrefix(span, "--"):
					span = before + " " + span
				case strings.HasPrefix(span, program):
				case slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == first }):
					group, span = first, program+" "+span
				default: // one more of the group
					span = program + " " + group + " " + span
				}
				c, err := commandNamed(programs, span)
				if err != nil {
					t.Errorf("%s: %v", span, err)
					continue
				}
				before, has[c.CommandPath()] = c.CommandPath(), true
			}
		}
		for _, name := range leaves(root) {
			if !has[program+" "+name] && !strings.HasPrefix(name, "completion ") {
				t.Errorf("the page has no row for %s %s", program, name)
			}
		}
	}
}

var (
	inShell = regexp.MustCompile("(?s)```sh\n.*?```")
	inBlock = regexp.MustCompile("(?s)```(\\w*)\n(.*?)```")
)

// commandsOf returns the commands of a page: lines of blocks of sh, and those behind a prompt in blocks of no language.
func commandsOf(text string) (commands []string) {
	for _, block := range inBlock.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[2]) {
			line = strings.TrimSpace(line)
			after, prompt := strings.CutPrefix(line, "$ ")
			if line != "" && (block[1] == "sh" || block[1] == "" && prompt) {
				commands = append(commands, after)
			}
		}
	}
	return commands
}

// commandNamed returns the command that a line names, which has the flags that stand there. Of a synopsis, options and
// choices are taken for given.
func commandNamed(programs map[string]*cobra.Command, line string) (*cobra.Command, error) {
	line, _, _ = strings.Cut(line, " # ")
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" []…", r) })
	if end := slices.IndexFunc(words, func(word string) bool { return strings.ContainsAny(word[:1], "|<>&") }); end > 0 {
		words = words[:end]
	}
	if len(words) > 2 && words[0] == "webrace-run" && words[1] == "store" {
		words = append([]string{storecmd.Name}, words[2:]...)
	}
	root := programs[words[0]]
	if root == nil {
		return nil, fmt.Errorf("%s is no program of webrace", words[0])
	}
	var args []string
	for _, word := range words[1:] {
		first, _, _ := strings.Cut(word, "|")
		args = append(args, first)
	}
	c, rest, err := root.Find(args)
	if err != nil {
		return nil, err
	}
	if c.HasParent() && c.HasSubCommands() && len(rest) > 0 {
		return nil, fmt.Errorf("%s has no command %s", c.CommandPath(), rest[0])
	}
	for _, word := range words {
		for choice := range strings.SplitSeq(word, "|") {
			flag, isFlag := strings.CutPrefix(choice, "--")
			flag, _, _ = strings.Cut(flag, "=")
			if isFlag && flag != "help" && c.Flag(flag) == nil {
				return nil, fmt.Errorf("%s has no flag --%s", c.CommandPath(), flag)
			}
		}
	}
	return c, nil
}

// programTrees returns the commands of the two programs, with those that cobra adds when it runs one.
func programTrees() map[string]*cobra.Command {
	trees := map[string]*cobra.Command{"webrace-run": newRoot(), "webrace-store": storecmd.New(nil)}
	for _, root := range trees {
		root.InitDefaultCompletionCmd()
		root.InitDefaultVersionFlag()
	}
	return trees
}
