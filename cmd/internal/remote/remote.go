// Package remote lets the process that owns a data directory run commands for others: over its socket a
// client sends the command line, and what it types if the command asks for it; the owner sends back what
// the command writes, as it is written, and the status that it ended with. So a command prints and does the
// same whether the stores are in use or not.
//
// The connection begins as HTTP (POST [Path], Upgrade: [Protocol]), so that it shares a socket with
// everything else the owner answers. After the answer 101 both sides send frames: a byte for its kind, the length of
// the rest in four bytes, the rest.
package remote

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Path and Protocol are what a client asks for. Another version of the protocol has another name. ClusterPath is
// where a node runs commands for its whole cluster.
const (
	Path        = "/store"
	ClusterPath = "/store/cluster"
	Protocol    = "webrace-store/1"
)

// NotHere is the status of a command that is left to the client: it has done nothing, and is to be run there.
const NotHere = -1

// kind is the kind of a frame.
type kind byte

const (
	// from the client
	request kind = 'q' // a Request as JSON: the first frame
	input   kind = 'i' // what the command reads from standard input; empty at its end

	// from the owner
	stdout    kind = 'o'
	stderr    kind = 'e'
	wantInput kind = 'r' // the command reads from standard input: send more
	exit      kind = 'x' // the status as a JSON number: the last frame
)

// Request is a command line, and what the command can see of where it was given.
type Request struct {
	Args   []string `json:"args"` // without the name of the program
	Dir    string   `json:"dir"`  // the working directory
	Stdout Screen   `json:"stdout"`
	Stderr Screen   `json:"stderr"`
	Stdin  Screen   `json:"stdin"`
	Part   *Part    `json:"part,omitempty"` // that is asked; nil: what the process has as a whole
}

// Part is a partition of a cluster that is asked for its share of an answer. What it writes is for the program that
// asks all of them.
type Part struct {
	Partition int             `json:"partition"`
	Ask       json.RawMessage `json:"ask,omitempty"`  // what is asked for beside the command, if anything
	Rows      bool            `json:"rows,omitempty"` // values are to be written as JSON, for who puts them together
}

// Screen describes where a stream leads.
type Screen struct {
	Terminal bool `json:"terminal"`
	Columns  int  `json:"columns,omitempty"` // of the terminal
}

// largest is how long a frame may be.
const largest = 1 << 20

func writeFrame(w io.Writer, k kind, content []byte) error {
	frame := make([]byte, 5, 5+len(content))
	frame[0] = byte(k)
	binary.BigEndian.PutUint32(frame[1:], uint32(len(content)))
	_, err := w.Write(append(frame, content...))
	return err
}

func writeJSON(w io.Writer, k kind, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return writeFrame(w, k, content)
}

func readFrame(r io.Reader) (kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > largest {
		return 0, nil, fmt.Errorf("a frame of %d bytes, where %d are the most", size, largest)
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return kind(head[0]), content, nil
}
