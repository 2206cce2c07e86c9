package httpclient

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/netguard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newTestClient returns a client with default options that may ask these networks.
func newTestClient(t *testing.T, networks ...string) (*Client, *pipeline.Env) {
	t.Helper()
	guard, err := netguard.New(networks)
	if err != nil {
		t.Fatal(err)
	}
	env := pipeline.NewEnv("p", "fetch", nil)
	c, err := New(Config{
		UserAgent: "test/1", Anonymous: true, AllowNetworks: networks, ConnectTimeout: 10 * time.Second, HeaderTimeout: 20 * time.Second,
		Timeout: time.Minute, MaxHeader: 256 << 10, IdleConnections: 256, Options: Defaults,
	}, guard, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, env
}

// ask makes a request and reads its response.
func ask(t *testing.T, c *Client, url string) error {
	t.Helper()
	target, err := ParseTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Get(t.Context(), target, nil, 1<<20)
	if err == nil {
		a.Release()
	}
	return err
}

func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		&netguard.RefusedError{}:                true,
		fmt.Errorf("dial: %w", &ContactError{}): true,
		errors.New("connection refused"):        false,
	} {
		if IsRefusal(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}
