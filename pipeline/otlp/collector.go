package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// Collector is sent spans in the background, some at a time. No stage waits for it: as long as it does not take
// them, as many are kept as there is room for, and the others are left out and counted. Whether it takes them
// is logged when that changes.
type Collector struct {
	settings Settings
	logger   *slog.Logger
	pace     pace
	client   *http.Client

	mu    sync.Mutex
	queue []span
	lost  int64 // left out

	full    chan struct{} // holds something when there is enough for a request
	closing chan struct{}
	ended   chan struct{} // closed when nothing is sent any more
	ctx     context.Context
	cancel  context.CancelFunc // ends a request that Close does not wait for
}

var _ Sink = (*Collector)(nil)

// pace is how much is sent when.
type pace struct {
	room, atOnce int           // spans that are kept, and of these sent in one request
	every        time.Duration // also when there are fewer
	pause        time.Duration // after a failure; it doubles up to longest
	longest      time.Duration
	request      time.Duration // how long one may take
	farewell     time.Duration // how long Close may
}

var usualPace = pace{
	room: 8192, atOnce: 512, every: 5 * time.Second,
	pause: 5 * time.Second, longest: 2 * time.Minute, request: 10 * time.Second, farewell: 2 * time.Second,
}

// NewCollector sends to the endpoint of the settings until Close is called.
func NewCollector(s Settings, logger *slog.Logger) *Collector {
	return newCollector(s, logger, usualPace)
}

func newCollector(s Settings, logger *slog.Logger, p pace) *Collector {
	c := &Collector{settings: s, logger: logger, pace: p, full: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{})}
	c.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.client.Transport = http.DefaultTransport.(*http.Transport).Clone()
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go c.work()
	return c
}

func (c *Collector) take(lease []span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue)+len(lease) > c.pace.room {
		c.lost += int64(len(lease))
		return
	}
	c.queue = append(c.queue, lease...)
	if len(c.queue) >= c.pace.atOnce {
		select {
		case c.full <- struct{}{}:
		default:
		}
	}
}

// Close sends what is left, if that takes no longer than two seconds, and reports how many spans were left out.
// It is called once.
func (c *Collector) Close() {
	close(c.closing)
	defer c.cancel()
	defer time.AfterFunc(c.pace.farewell, c.cancel).Stop()
	<-c.ended
	err := c.sendAll()
	c.client.CloseIdleConnections()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost += int64(len(c.queue)); c.lost > 0 {
		c.logger.Warn("spans were left out", "spans", c.lost, "collector", c.settings.Endpoint.Redacted(), "error", err)
	}
	c.queue = nil
}

// work sends spans until the collector is closed.
func (c *Collector) work() {
	defer close(c.ended)
	tick := time.NewTicker(c.pace.every)
	defer tick.Stop()
	pause := c.pace.pause
	for failing := false; ; {
		select {
		case <-c.full:
		case <-tick.C:
		case <-c.closing:
			return
		}
		err := c.sendAll()
		switch {
		case err == nil && failing:
			c.logger.Info("the collector takes spans again", "collector", c.settings.Endpoint.Redacted())
			failing, pause = false, c.pace.pause
		case err != nil && !failing:
			failing = true
			c.logger.Warn("spans cannot be sent, and what there is no room for is left out; is this the address of OTLP over HTTP?",
				"collector", c.settings.Endpoint.Redacted(), "error", err)
		}
		if err != nil {
			select {
			case <-time.After(pause):
			case <-c.closing:
				return
			}
			pause = min(2*pause, c.pace.longest)
		}
	}
}

// sendAll sends what there is, until that fails in a way that may pass.
func (c *Collector) sendAll() (first error) {
	for {
		c.mu.Lock()
		batch := c.queue[:min(len(c.queue), c.pace.atOnce)]
		c.mu.Unlock()
		if len(batch) == 0 {
			return first
		}
		rejected, err := c.send(batch)
		var refused *refusedError
		if err != nil && !errors.As(err, &refused) {
			return err
		}
		c.mu.Lock()
		c.queue = c.queue[len(batch):]
		c.lost += rejected
		c.mu.Unlock()
		if first == nil {
			first = err
		}
	}
}

// refusedError is an answer that another attempt would not change.
type refusedError struct{ reason string }

func (e *refusedError) Error() string { return e.reason }

// send sends one request, and returns how many of its spans the collector did not want.
func (c *Collector) send(batch []span) (rejected int64, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.pace.request)
	defer cancel()
	body, err := json.Marshal(export(c.settings.Service, batch))
	if err != nil {
		return int64(len(batch)), &refusedError{err.Error()}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.settings.Endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, value := range c.settings.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.client.Do(request)
	if err != nil {
		var asked *url.Error
		if errors.As(err, &asked) {
			err = asked.Err // the address is told besides
		}
		return 0, err
	}
	defer answer.Body.Close()
	says, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return 0, fmt.Errorf("read the answer: %w", err)
	}
	return judge(answer.StatusCode, says, len(batch))
}

// judge returns what an answer means (the OTLP specification, "OTLP/HTTP response").
func judge(status int, says []byte, sent int) (rejected int64, err error) {
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout:
		return 0, fmt.Errorf("it answers %d %s", status, http.StatusText(status))
	case status < 200 || status > 299:
		return int64(sent), &refusedError{fmt.Sprintf("it answers %d %s", status, http.StatusText(status))}
	}
	var answer struct {
		PartialSuccess struct {
			RejectedSpans json.RawMessage // a number, or as Protocol Buffers have it, a string of one
			ErrorMessage  string
		}
	}
	if json.Unmarshal(says, &answer) != nil { // it need not be JSON for spans to have arrived
		return 0, nil
	}
	n, _ := strconv.ParseInt(string(bytes.Trim(answer.PartialSuccess.RejectedSpans, `"`)), 10, 64)
	if n <= 0 {
		return 0, nil
	}
	return min(n, int64(sent)), &refusedError{fmt.Sprintf("it rejects %d of %d spans: %s", n, sent, answer.PartialSuccess.ErrorMessage)}
}
