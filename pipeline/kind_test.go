package pipeline

import (
	"testing"

	"github.com/webrace/webrace/pipeline/codec"
)

func TestKindsAreKnownByName(t *testing.T) {
	for _, name := range append(codec.Names(), "any") {
		kind, err := KindNamed(name)
		if err != nil || kind.Name() != name {
			t.Errorf("%s is %v, named %q, %v", name, kind, kind.Name(), err)
		}
	}
	if name := KindOf[*Graph]().Name(); name != "" {
		t.Errorf("a kind without a codec is named %q", name)
	}
}
