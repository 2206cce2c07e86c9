package exec

import (
	"bufio"
	"fmt"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// host runs a stage whose program does not end when its input does, says which process that is, and waits to
// be killed.
func host() {
	o := defaults
	o.Command, o.Env = []string{os.Args[0]}, map[string]string{"PROGRAM": "stays"}
	impl, err := newStage(o, pipeline.NewEnv("p", "s", nil))
	if err != nil {
		panic(err)
	}
	s := impl.(*stage)
	p, err := s.slots[0].running(s.ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(p.cmd.Process.Pid)
	time.Sleep(time.Hour)
}

func TestNoProgramOutlivesAHostThatIsKilled(t *testing.T) {
	c := osexec.Command(os.Args[0])
	c.Env = append(os.Environ(), "PROGRAM=host")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if !runs(pid) {
		t.Fatalf("process %d does not run", pid)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	for patience := time.Now().Add(10 * time.Second); runs(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(patience) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d goes on", pid)
		}
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
