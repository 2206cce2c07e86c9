package fetch

import (
	"net"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
)

// checked returns what a stage with these options finds, as lines.
func checked(t *testing.T, change func(*Options)) []string {
	t.Helper()
	o := defaults
	change(&o)
	s, err := newStage(o, pipeline.NewEnv("p", "fetch", new(pipeline.Resources)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.(pipeline.Closer).Close()
	err = s.(pipeline.Checker).Check(t.Context())
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestCheckTriesProxyAndServersOfNames(t *testing.T) {
	t.Parallel()
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	closed := testutil.FreeAddress(t)
	names := clienttest.ServeNames(t, func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
		return [][]byte{clienttest.Answers(q, id, dnsmessage.RCodeNameError)} // that it knows no such name is an answer
	})
	if wrong := checked(t, func(o *Options) {
		o.Proxy = "http://" + proxy.Addr().String()
		o.DNSServers = []string{names.Addr.String()}
	}); wrong != nil {
		t.Errorf("all is there, and it finds %q", wrong)
	}
	wrong := checked(t, func(o *Options) {
		o.Proxy, o.DNSServers = "socks5://user:sesame@"+closed, []string{closed, names.Addr.String()}
	})
	if len(wrong) != 2 || !strings.HasPrefix(wrong[0], "proxy: by the proxy: connect to it: ") || !strings.HasPrefix(wrong[1], "dns_servers: ask "+closed) {
		t.Errorf("nothing is there, and it finds %q", wrong)
	}
	if strings.Contains(strings.Join(wrong, ""), "sesame") {
		t.Errorf("it tells the password: %q", wrong)
	}
}
