package httpout

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
)

// renewing is a source of a secret that comes from elsewhere, where it becomes another one.
type renewing struct {
	mu      sync.Mutex
	values  []credentials.Secret // the present one, and those to come
	version uint64
	asked   int
}

func (r *renewing) Secret(context.Context, string) (credentials.Secret, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.values[0], nil
}

func (r *renewing) SecretVersion(string) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

func (*renewing) StartOf(context.Context, string) (string, error) {
	return "", credentials.ErrNotFound
}

func (r *renewing) RenewSecret(_ context.Context, _ string, version uint64) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if version == r.version && len(r.values) > 1 {
		r.values, r.version = r.values[1:], r.version+1
	}
	return version != r.version, nil
}

func TestASecretThatIsRefusedIsReadAnew(t *testing.T) {
	t.Parallel()
	var taken, refused int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hush-2" || r.URL.Path != "/" {
			refused++
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		taken++
	}))
	t.Cleanup(server.Close)
	plain := credentials.Bounds{Insecure: true}
	source := &renewing{values: []credentials.Secret{secret(t, credentials.KindBearer, "", "hush-1", plain), secret(t, credentials.KindBearer, "", "hush-2", plain)}}
	lent := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](lent, func() (credentials.Source, error) { return source, nil })
	o := defaults
	o.URL, o.AllowNetworks, o.Secret = server.URL+"/", []string{"loopback"}, "hook"
	env := pipeline.NewEnv("p", "http-out", lent)
	made, err := newStage(o, env)
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*stage)
	defer s.Close()
	for range 2 {
		if f, err := s.attempt(t.Context(), message{mediaType: "text/plain", items: 1}, nil); f != nil || err != nil {
			t.Errorf("%+v, %v", f, err)
		}
	}
	if taken != 2 || refused != 1 || source.asked != 1 {
		t.Errorf("%d taken, %d refused, read anew %d times", taken, refused, source.asked)
	}
	s.to.Path = "/other" // where no secret is taken: that is the answer
	if f, err := s.attempt(t.Context(), message{mediaType: "text/plain", items: 1}, nil); f == nil || err != nil || f.passing || strings.Contains(f.err.Error(), "hush") {
		t.Errorf("%+v, %v", f, err)
	}
	if refused != 2 || source.asked != 2 {
		t.Errorf("%d refused, read anew %d times", refused, source.asked)
	}
}
