package codec_test

import (
	"testing"

	"github.com/webrace/webrace/pipeline/codec"
)

func TestWhatBorrowsNothingIsPassedOnAsItIs(t *testing.T) {
	t.Parallel()
	v := &struct{ n int }{1}
	if codec.Own(v) != any(v) || codec.Own("text") != "text" || codec.Own(nil) != nil {
		t.Error("it is another one")
	}
}
