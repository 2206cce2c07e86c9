package httpout

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
)

func isMessage(it *pipeline.Item) bool {
	_, is := it.Value.(*delivery.Message)
	return is
}

// sendEach sends messages, each by itself, and whatever is among them as ever.
func (s *stage) sendEach(ctx context.Context, its []*pipeline.Item) error {
	failed := make([]error, len(its))
	for i, it := range its {
		m, is := it.Value.(*delivery.Message)
		switch {
		case is:
			failed[i] = s.sendMessage(ctx, it, m)
		case s.to == nil:
			failed[i] = fmt.Errorf("without the option url it takes messages, got a %T", it.Value)
		default:
			failed[i] = s.deliverAll(ctx, its[i:i+1])
		}
	}
	return groupError(failed)
}

// sendMessage sends a message to its own address, once, and has the queue learn what came of it. No error and no result
// shows more of the address than its host.
func (s *stage) sendMessage(ctx context.Context, it *pipeline.Item, m *delivery.Message) error {
	address, key := m.Address.Reveal()
	request, err := http.NewRequestWithContext(ctx, m.Method, address, bytes.NewReader(m.Body))
	if m.Transport != delivery.TransportWebhook || err != nil || request.URL.Host == "" || request.URL.Scheme != "https" && request.URL.Scheme != "http" {
		it.Learn(delivery.Result{Said: fmt.Sprintf("it cannot be sent by HTTP to %v", m.Address)})
		return nil
	}
	request.Header.Set("User-Agent", "webrace/1 (http-out)")
	request.Header.Set("Content-Type", m.MediaType)
	request.Header.Set("Idempotency-Key", m.ID)
	if key != "" {
		request.Header.Set(signatureField, sign(key, time.Now(), m.Body))
	}
	result := s.resultOf(request)
	if ctx.Err() != nil && !result.Taken {
		return ctx.Err()
	}
	counter := "refused"
	switch {
	case result.Taken:
		counter = "delivered"
	case result.Passing:
		counter = "repeated"
	}
	s.env.Counter(counter).Add(1)
	it.Learn(result)
	return nil
}

// resultOf makes a request, and returns what came of it.
func (s *stage) resultOf(request *http.Request) delivery.Result {
	f := s.send(request, nil)
	if f == nil {
		return delivery.Result{Taken: true}
	}
	return delivery.Result{Passing: f.passing, After: f.after, Said: f.err.Error()}
}
