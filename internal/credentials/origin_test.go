package credentials

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// shellCommand is an origin that a shell makes; the test is skipped where there is none.
func shellCommand(t *testing.T, script string) Origin {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no /bin/sh")
	}
	return Origin{Command: []string{"/bin/sh", "-c", script}}
}

func TestASecretIsReadFromAFileOrACommand(t *testing.T) {
	t.Setenv("WEBRACE_TOKEN", hush)
	t.Setenv("AWS_SECRET_ACCESS_KEY", hush)
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte(hush+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Origin{{File: path}, shellCommand(t, "echo not this >&2; echo "+hush), shellCommand(t, "cat "+path)} {
		if got, err := o.Read(t.Context()); got != hush || err != nil {
			t.Errorf("%v gives %q, %v", o, got, err)
		}
	}
	if got, err := shellCommand(t, `[ -n "$PATH" ] && env | sort | sed 's/=.*//' | tr '\n' ' '`).Read(t.Context()); err != nil || strings.Contains(got, "WEBRACE") || strings.Contains(got, "SECRET") {
		t.Errorf("its environment is %s, %v", got, err)
	}
}

func TestACommandThatFailsIsNamedAndWhatItSaysIsNot(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo " + hush + "; echo " + hush + " >&2; exit 3": "the command /bin/sh fails: exit status 3",
		"true":                                "its output holds nothing",
		`printf '` + hush + `\377'`:           "its output holds what is no text",
		"while :; do echo " + hush + "; done": "it says more than 64 KB",
	} {
		_, err := shellCommand(t, script).Read(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), hush) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
	if _, err := (Origin{Command: []string{"no-such-program-" + "x"}}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "no-such-program-x") {
		t.Errorf("no program: %v", err)
	}
}

// What a command has started ends with it, in time.
func TestACommandIsEndedWithAllThatItHasStarted(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "still-there")
	hangs := shellCommand(t, "(sleep 0.5; touch "+marker+") & sleep 600")
	began := time.Now()
	if _, err := hangs.run(t.Context(), 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "it takes longer than 50ms") {
		t.Errorf("a command that hangs: %v", err)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it took %v", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hangs.Read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who is gone: %v", err)
	}
	said, err := shellCommand(t, "sleep 600 & echo "+hush).run(t.Context(), time.Minute)
	if err != nil || string(said) != hush+"\n" || time.Since(began) > 2*time.Minute {
		t.Errorf("one that leaves another behind: %q, %v", said, err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("what it had started went on")
	}
}

func TestOriginsThatGiveNothingAreRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []Origin{{File: "relative"}, {Command: []string{""}}, {File: "/a", Command: []string{"b"}}, {File: "/a\nb"}, {Command: []string{"a", "b\tc"}}} {
		if o.Check() == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	for o, want := range map[*Origin]string{
		{}: "stored", {File: "/run/secrets/a"}: "file /run/secrets/a", {Command: []string{"pass", "show", "a b"}}: "command pass show 'a b'",
	} {
		if got := fmt.Sprint(*o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
