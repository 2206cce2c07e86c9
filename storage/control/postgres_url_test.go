package control_test

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/storage/control"
)

// What is wrong with a URL is told without a network, and without what it keeps secret.
func TestTheURLOfADatabase(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"postgres://webrace@db.example/webrace", "postgresql://u:pa%2Fss@127.0.0.1:6543/d?sslmode=disable",
		"postgres://u@one,two:5433/d?target_session_attrs=read-write", "postgres:///d?host=/run/postgresql&user=u",
	} {
		if err := control.CheckURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"":                                   "takes a URL such as",
		"mysql://u:hidden@h/d":               "takes a URL such as",
		"host=h password=hidden dbname=d":    "takes a URL such as",
		"postgres://u:hidden@h":              "names no database",
		"postgres://u:hid/den@h/d":           "written as its code",
		"postgres://u:hidden@h:port/d":       "written as its code",
		"postgres://u:hidden@h/d?sslmode=no": "sslmode",
	} {
		err := control.CheckURL(bad)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "hid") || strings.Contains(err.Error(), "den@")) {
			t.Errorf("%s: the password is in %v", bad, err)
		}
	}
}
