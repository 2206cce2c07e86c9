package exec

import (
	"bufio"
	"fmt"
	"os"
	osexec "os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// host runs a stage whose program is named by its environment, until it is killed.
func host() {
	o := defaults
	o.Command = []string{os.Args[0]}
	o.Env = map[string]pipeline.Secret{"PROGRAM": pipeline.NewSecret(os.Getenv("GUEST")), "PIDS": pipeline.NewSecret(os.Getenv("PIDS"))}
	impl, err := newStage(o, pipeline.NewEnv("p", "s", nil))
	if err != nil {
		panic(err)
	}
	s := impl.(*stage)
	if err := s.Open(s.ctx); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	hang()
}

// deaf is a process that nothing ends but SIGKILL, and that does not look at its standard input.
func deaf() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	note(os.Getpid())
	hang()
}

// note adds a process to those that the test looks at.
func note(pid int) {
	f, err := os.OpenFile(os.Getenv("PIDS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, pid)
}

// guests are programs that are ready, and then outlive the end of their standard input.
var guests = map[string]func(){
	"stays": func() {},
	"family": func() { // has a child, and that has one
		start("deaf")
		start("parent")
	},
	"parent": func() { start("deaf") },
	"leaves": func() { // the process group that it was born into
		if _, err := syscall.Setsid(); err != nil {
			panic(err)
		}
	},
}

func start(mode string) {
	c := osexec.Command(os.Args[0])
	c.Env = append(os.Environ(), "PROGRAM="+mode)
	if err := c.Start(); err != nil {
		panic(err)
	}
}

// guest runs a program that outlives the end of its input, as far as it may.
func guest(mode string) {
	guests[mode]()
	if mode != "parent" {
		p := peer{bufio.NewReader(os.Stdin), os.Stdout}
		p.read()
		p.write(`{"type":"ready","abi":1}`)
	}
	deaf()
}

// TestDiesWithWebrace has a process that runs a stage killed, in the place of webrace, and looks for what its programs
// have left.
func TestDiesWithWebrace(t *testing.T) {
	const within = 2 * time.Second
	for mode, processes := range map[string]int{"stays": 1, "family": 4, "leaves": 1} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			list := t.TempDir() + "/pids"
			c := osexec.Command(os.Args[0])
			c.Env = append(os.Environ(), "PROGRAM=host", "GUEST="+mode, "PIDS="+list)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			pids := noted(t, list, processes)
			if still := slices.DeleteFunc(slices.Clone(pids), runs); len(still) > 0 {
				t.Fatalf("processes %v have ended before", still)
			}
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			killed := time.Now()
			_ = c.Wait() // it was killed
			left := pids
			for ; len(left) > 0; time.Sleep(5 * time.Millisecond) {
				left = slices.DeleteFunc(left, func(pid int) bool { return !runs(pid) })
				if len(left) > 0 && time.Since(killed) > within {
					for _, pid := range left {
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
					t.Fatalf("%v after webrace was killed, processes %v of %d go on", within, left, processes)
				}
			}
			t.Logf("all %d processes ended within %v", processes, time.Since(killed).Round(time.Millisecond))
		})
	}
}

// noted waits until so many processes have said that they run.
func noted(t *testing.T, list string, processes int) (pids []int) {
	t.Helper()
	for patience := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(list)
		words := strings.Fields(string(text))
		if len(words) < processes && time.Now().Before(patience) {
			continue
		}
		for _, word := range words {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		if len(pids) != processes {
			t.Fatalf("processes %v run, and not %d", pids, processes)
		}
		return pids
	}
}

// runs reports whether a process is there and no zombie.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
