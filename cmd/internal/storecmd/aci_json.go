package storecmd

import (
	"bufio"
	"io"
	"iter"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// jsonOfACI is an annotation as a JSON line.
func jsonOfACI(a control.ACI) xmlschema.Record {
	r := a.Record()
	r.Retrieved = a.Retrieved
	return r
}

func writeACILines(w io.Writer, acis iter.Seq2[control.ACI, error]) error {
	buffer := bufio.NewWriter(w)
	encoder := cli.NewEncoder(buffer)
	for aci, err := range acis {
		if err == nil {
			err = encoder.Encode(jsonOfACI(aci))
		}
		if err != nil {
			buffer.Flush()
			return err
		}
	}
	return buffer.Flush()
}
