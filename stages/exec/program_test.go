package exec

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is the program as well: with PROGRAM in its environment it behaves as that asks.
func TestMain(m *testing.M) {
	switch mode := os.Getenv("PROGRAM"); mode {
	case "":
		goleak.VerifyTestMain(m)
	case "host":
		host()
	case "deaf":
		deaf()
	default:
		if mib, eats := strings.CutPrefix(mode, "eats "); eats {
			size, _ := strconv.Atoi(mib)
			eat(size)
			hang()
		}
		if guests[mode] != nil {
			guest(mode)
		}
		program(mode)
	}
}

var grown bool

// eat takes so many MiB of memory; nil where no test needs it.
var eat func(mib int)

// peer is the program's side of the protocol.
type peer struct {
	in  *bufio.Reader
	out io.Writer
}

func (p peer) read() (m map[string]any, body []byte) {
	header, body, err := readFrame(p.in, 1<<30)
	if err != nil {
		os.Exit(0)
	}
	if err := json.Unmarshal(header, &m); err != nil {
		panic(err)
	}
	return m, body
}

func (p peer) write(header string, args ...any) {
	_, _ = p.out.Write(appendFrame(nil, fmt.Appendf(nil, header, args...), nil))
}

// hang is what a program does that answers no more: it waits to be killed.
func hang() { time.Sleep(time.Hour) } // longer than any test

// spoils are what a program does wrong before it is ready.
var spoils = map[string]func(peer){
	"exit at start":  func(peer) { fmt.Fprintln(os.Stderr, "no license"); os.Exit(7) },
	"print at start": func(peer) { fmt.Println("Hello, I am a program, and glad to be one"); hang() },
	"wrong abi":      func(p peer) { p.read(); p.write(`{"type":"ready","abi":99}`); p.read() },
	"refuse":         func(p peer) { p.read(); p.write(`{"type":"error","error":"there is no option 'volme'"}`); p.read() },
	"drift": func(p peer) {
		p.read()
		p.write(`{"type":"ready","abi":1,"spec":{"takes":["aci"],"gives":[{"kind":"text"},{"port":"x","kind":"links"}]}}`)
		p.read()
	},
	"asks amiss": func(p peer) {
		p.read()
		p.write(`{"type":"ready","abi":1,"spec":{"fields":["bdy"]}}`)
		p.read()
	},
	"refuse value": func(p peer) {
		p.read()
		p.write(`{"type":"error","error":"volume is 11 at most","option":"volume"}`)
		p.read()
	},
	"knows": func(p peer) {
		p.read()
		p.write(`{"type":"ready","abi":1,"spec":{"options":["volume","mark"]}}`)
		p.read()
	},
	"not ready":        func(peer) { hang() },
	"no greeting":      func(p peer) { p.read(); p.write(`{"type":"done","id":1}`); p.read() },
	"no json":          func(p peer) { p.read(); p.write(`hello`); p.read() },
	"close at start":   func(peer) { os.Stdout.Close(); hang() },
	"ready and dead":   func(p peer) { p.read(); p.write(`{"type":"ready","abi":1}`); os.Exit(3) },
	"never reads":      func(p peer) { p.read(); p.write(`{"type":"ready","abi":1}`); hang() },
	"closes its input": func(p peer) { p.read(); p.write(`{"type":"ready","abi":1}`); os.Stdin.Close(); hang() },
}

// specs are what a program declares of itself that is ready.
var specs = map[string]string{
	"needs text":     `{"needs":["text"]}`,
	"needs nothing":  `{"needs":[]}`,
	"reads title":    `{"fields":["url","title"]}`,
	"reads url":      `{"fields":["url"]}`,
	"asks how it is": `{"fields":["outcome","title"]}`,
}

// program is ready, and does with each item what its text asks.
func program(mode string) {
	p := peer{bufio.NewReader(os.Stdin), os.Stdout}
	if spoil := spoils[mode]; spoil != nil {
		spoil(p)
		os.Exit(0)
	}
	hello, _ := p.read()
	if mode == "late" {
		time.Sleep(100 * time.Millisecond) // what a slow program does; nothing waits for it
	}
	if spec := specs[mode]; spec != "" {
		p.write(`{"type":"ready","abi":1,"spec":%s}`, spec)
	} else {
		p.write(`{"type":"ready","abi":1,"news":[{}]}`)
	}
	if mode == "ignores SIGTERM" {
		signal.Ignore(syscall.SIGTERM)
	}
	if mode == "works on the newest first" {
		p.newestFirst(hello)
	}
	for {
		header, body, err := readFrame(p.in, 1<<30)
		if err != nil && mode == "ignores SIGTERM" {
			hang()
		}
		if err != nil {
			os.Exit(0)
		}
		var m struct {
			Type string
			ID   uint64
		}
		if err := json.Unmarshal(header, &m); err != nil {
			panic(err)
		}
		if dies := deaths[mode]; dies != nil && dies() {
			os.Exit(3)
		}
		p.work(m.ID, string(body), hello)
	}
}

var hadItems int // by this process

// deaths tell whether a process dies at the item that has come, whatever that is.
var deaths = map[string]func() bool{
	"dies at its tenth":  func() bool { hadItems++; return hadItems == 10 },
	"dies at its second": func() bool { hadItems++; return hadItems == 2 },
	"dies at each tenth of all": func() bool {
		f, err := os.OpenFile(os.Getenv("COUNT"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		defer f.Close()
		fmt.Fprint(f, "x")
		info, err := f.Stat()
		return err != nil || info.Size()%10 == 0
	},
}

// newestFirst works on the items as they come, each time on the one that came last.
func (p peer) newestFirst(hello map[string]any) {
	type item struct {
		id   uint64
		text string
	}
	came := make(chan item, 100)
	go func() {
		for {
			m, body := p.read()
			came <- item{uint64(m["id"].(float64)), string(body)}
		}
	}()
	for stack := []item{<-came}; ; {
		for len(came) > 0 || len(stack) == 0 {
			stack = append(stack, <-came)
		}
		last := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		time.Sleep(50 * time.Millisecond) // so that more comes, which is answered before the rest
		p.work(last.id, last.text, hello)
	}
}

func (p peer) work(id uint64, text string, hello map[string]any) {
	switch word, rest, _ := strings.Cut(text, " "); word {
	case "crash":
		fmt.Fprintln(os.Stderr, "segmentation fault, or so")
		os.Exit(3)
	case "emit-crash":
		p.write(`{"type":"emit","id":%d,"keep":true}`, id)
		os.Exit(3)
	case "hang":
		hang()
	case "fork": // a child that holds our pipes
		child := osexec.Command("sleep", "3600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if child.Start() == nil {
			fmt.Fprintln(os.Stderr, "child", child.Process.Pid)
		}
		os.Exit(4)
	case "flood":
		for i := range 5000 {
			fmt.Fprintln(os.Stderr, "line", i)
		}
	case "print":
		fmt.Println("I meant to say this to somebody else")
	case "unknown":
		p.write(`{"type":"done","id":4711}`)
	case "twice":
		p.write(`{"type":"done","id":%d}`, id)
	case "nonsense":
		p.write(`{"type":"nonsense"}`)
	case "huge":
		_, _ = os.Stdout.Write([]byte{0, 0, 0, 0x20, 2, 0, 0, 0, '{', '}'})
	case "much":
		for range 20 {
			p.write(`{"type":"emit","id":%d,"keep":true,"unknown":%q}`, id, strings.Repeat("x", 1000))
		}
	case "cut":
		_, _ = os.Stdout.Write([]byte{100, 0, 0, 0, 2, 0, 0, 0, '{'})
		os.Exit(0)
	case "close":
		os.Stdout.Close()
		hang()
	case "error":
		p.write(`{"type":"error","id":%d,"error":%q,"count":{"refused":1}}`, id, rest)
		return
	case "later":
		p.write(`{"type":"error","id":%d,"error":"not now","retry_after_s":60}`, id)
		return
	case "port":
		p.write(`{"type":"emit","id":%d,"port":%q,"keep":true}`, id, rest)
	case "kind":
		p.write(`{"type":"emit","id":%d,"kind":%q,"value":{}}`, id, rest)
	case "set":
		p.write(`{"type":"emit","id":%d,"keep":true,"set":{%q:"x"}}`, id, rest)
	case "drop":
	case "three":
		p.write(`{"type":"emit","id":%d,"keep":true}`, id)
		_, _ = p.out.Write(appendFrame(nil, fmt.Appendf(nil, `{"type":"emit","id":%d,"keep":true,"body":true}`, id), []byte(strings.ToUpper(rest))))
		_, _ = p.out.Write(appendFrame(nil, fmt.Appendf(nil, `{"type":"emit","id":%d}`, id), []byte("new")))
	case "links":
		p.write(`{"type":"emit","id":%d,"port":"links","value":{"from":"a","urls":["b"]}}`, id)
	case "counters": // of so many names
		var names int
		_, _ = fmt.Sscan(rest, &names)
		header := fmt.Appendf(nil, `{"type":"done","id":%d,"count":{%q:1`, id, strings.Repeat("x", 2*longestName))
		for i := range names {
			header = append(append(header, `,"`...), rest[len(rest)-1])
			header = append(strconv.AppendInt(header, int64(i), 10), `":1`...)
		}
		_, _ = p.out.Write(appendFrame(nil, append(header, "}}"...), nil))
		return
	case "hold": // until the file is there
		for _, err := os.Stat(rest); err != nil; _, err = os.Stat(rest) {
			time.Sleep(5 * time.Millisecond) // then looks again
		}
		p.write(`{"type":"emit","id":%d,"keep":true}`, id)
	case "die": // at one place
		if os.Getenv("PLACE") == rest {
			os.Exit(3)
		}
		p.write(`{"type":"emit","id":%d,"keep":true}`, id)
	case "say":
		said, _ := json.Marshal(map[string][]string{"place": {os.Getenv("PLACE")}, "arguments": os.Args[1:]}[rest])
		_, _ = p.out.Write(appendFrame(nil, fmt.Appendf(nil, `{"type":"emit","id":%d,"keep":true,"body":true}`, id), said))
	case "grow": // by so many MiB, in a child if the word child is there, and the second time wait for the end
		var size int
		if _, err := fmt.Sscan(rest, &size); err != nil {
			panic(err)
		}
		if _, inChild, _ := strings.Cut(rest, " "); inChild != "" {
			c := osexec.Command(os.Args[0])
			c.Env = append(os.Environ(), "PROGRAM=eats "+strconv.Itoa(size))
			if err := c.Start(); err != nil {
				panic(err)
			}
			hang()
		}
		if eat(size); grown {
			hang()
		}
		grown = true
		p.write(`{"type":"emit","id":%d,"keep":true}`, id)
	case "environment":
		names, _ := json.Marshal(os.Environ())
		_, _ = p.out.Write(appendFrame(nil, fmt.Appendf(nil, `{"type":"emit","id":%d,"keep":true,"body":true}`, id), names))
	case "volume":
		options, _ := json.Marshal(hello["options"])
		_, _ = p.out.Write(appendFrame(nil, fmt.Appendf(nil, `{"type":"emit","id":%d,"keep":true,"body":true}`, id), options))
	default:
		p.write(`{"type":"emit","id":%d,"keep":true}`, id)
	}
	p.write(`{"type":"done","id":%d,"count":{"worked":1}}`, id)
}
