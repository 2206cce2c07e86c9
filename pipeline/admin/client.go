package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/webrace/webrace/pipeline"
)

// Client asks a process that runs pipelines, through its socket. It may be used by many goroutines.
type Client struct {
	http *http.Client
}

// ErrNobody is what a client answers where no process listens.
var ErrNobody = errors.New("nothing runs there")

// NewClient returns a client for the process that listens on the socket at path, see [Listen]. Nothing is
// asked yet.
func NewClient(path string) *Client {
	return &Client{&http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := Dial(ctx, path)
			if err != nil && ctx.Err() == nil {
				return nil, fmt.Errorf("%w: %w", ErrNobody, err)
			}
			return conn, err
		},
		DisableKeepAlives: true, // a process that ends need not wait for us
	}}}
}

// Pipelines returns the state of every pipeline of the process.
func (c *Client) Pipelines(ctx context.Context) ([]State, error) {
	answer, err := c.ask(ctx, http.MethodGet, "/pipelines")
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	var states []State
	if err := json.NewDecoder(answer).Decode(&states); err != nil {
		return nil, fmt.Errorf("read the state of the pipelines: %w", err)
	}
	return states, nil
}

// Nodes returns the nodes of the cluster that the process is one of; none where it is alone.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	answer, err := c.ask(ctx, http.MethodGet, "/cluster")
	if refused := (*RefusedError)(nil); errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	var nodes []Node
	if err := json.NewDecoder(answer).Decode(&nodes); err != nil {
		return nil, fmt.Errorf("read how the nodes are: %w", err)
	}
	return nodes, nil
}

// Control tells a pipeline to "drain", to "pause" or to "resume".
func (c *Client) Control(ctx context.Context, name, what string) error {
	answer, err := c.ask(ctx, http.MethodPost, "/pipelines/"+url.PathEscape(name)+"/"+what)
	if err != nil {
		return err
	}
	return answer.Close()
}

// Tap watches a stage of a pipeline until the tap ends, ctx does, or show returns an error. opened is
// called once items are being watched.
func (c *Client) Tap(ctx context.Context, name string, q TapQuery, opened func(), show func(pipeline.Tapped) error) (TapEnd, error) {
	answer, err := c.ask(ctx, http.MethodGet, "/pipelines/"+url.PathEscape(name)+"/tap?"+q.values().Encode())
	if err != nil {
		return TapEnd{}, err
	}
	defer answer.Close()
	opened()
	for in := bufio.NewReader(answer); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return TapEnd{}, fmt.Errorf("the process that runs %s is gone: %w", name, err)
		}
		var end TapEnd
		if err := json.Unmarshal(line, &end); err != nil {
			return TapEnd{}, fmt.Errorf("read what passes: %w", err)
		}
		if end.Reason != "" {
			return end, nil
		}
		var item pipeline.Tapped
		if err := json.Unmarshal(line, &item); err != nil {
			return TapEnd{}, fmt.Errorf("read what passes: %w", err)
		}
		if err := show(item); err != nil {
			return TapEnd{}, err
		}
	}
}

// ask returns the body of the answer. An answer that is no success is an error with its text.
func (c *Client) ask(ctx context.Context, method, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://webrace"+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		var asked *url.Error
		if errors.As(err, &asked) {
			err = asked.Err // the address is of no meaning
		}
		return nil, err
	}
	if answer.StatusCode < 300 {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	says, _ := io.ReadAll(io.LimitReader(answer.Body, 16<<10))
	return nil, &RefusedError{answer.StatusCode, strings.TrimSpace(string(says))}
}

// RefusedError is an answer that is no success.
type RefusedError struct {
	Status  int // of HTTP
	Message string
}

func (e *RefusedError) Error() string { return e.Message }
