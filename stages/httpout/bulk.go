package httpout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
)

// mostBulkAnswer is how much is read of an answer to a bulk request, which has a few words on each document.
const mostBulkAnswer = 16 << 20

// bulkFilter asks for no more of the answer than is read.
const bulkFilter = "errors,items.*.status,items.*.error.type,items.*.error.reason"

// document is a value on its way to an index.
type document struct {
	item   int // of the group, that it belongs to
	parcel delivery.Parcel
	lines  []byte // action and source
	err    error  // why it was not taken when it was last sent
}

// deliverBulk sends a group by the bulk API of OpenSearch and Elasticsearch: each value is a document with an id of its
// own, so that it is there once however often it is sent. Documents that the receiver has no room for at the moment
// (429, 5xx) are sent again, without the others; one that it refuses is an error of its item alone.
func (s *stage) deliverBulk(ctx context.Context, its []*pipeline.Item) error {
	failed := make([]error, len(its))
	left := s.documents(its, failed)
	for attempt := 1; len(left) > 0; attempt++ {
		sent := left
		f, err := s.attempt(ctx, bulkMessage(sent), func(body []byte) *failure {
			rest, err := s.settle(sent, body, failed)
			if err != nil {
				return &failure{err: err, passing: true} // with their ids it does no harm to send all of them again
			}
			left = rest
			return nil
		})
		switch {
		case err != nil:
			return err
		case f != nil && !f.passing:
			s.giveUp("refused", left, f.err, failed)
			left = nil
		case f != nil:
			for i := range left {
				left[i].err = f.err
			}
		}
		if len(left) == 0 {
			break
		}
		if attempt == s.options.Attempts {
			s.giveUp("given_up", left, nil, failed)
			break
		}
		s.env.Counter("repeated").Add(1)
		if err := pause(ctx, s.receiver.backoff(attempt)); err != nil {
			return err
		}
	}
	return groupError(failed)
}

// giveUp makes errors of documents: why, or what each was last refused for.
func (s *stage) giveUp(counter string, left []document, why error, failed []error) {
	s.env.Counter(counter).Add(int64(len(left)))
	for _, d := range left {
		if why != nil {
			d.err = why
		}
		failed[d.item] = errors.Join(failed[d.item], fmt.Errorf("deliver to %s: %w", s.to.Host, d.err))
	}
}

// documents makes documents of the values of a group. What cannot be written is an error of its item.
func (s *stage) documents(its []*pipeline.Item, failed []error) (all []document) {
	for i, it := range its {
		parcels, err := s.parcels(it)
		failed[i] = err
		for _, p := range parcels {
			d, err := s.document(p)
			if err != nil {
				failed[i] = errors.Join(failed[i], err)
				continue
			}
			d.item = i
			all = append(all, d)
		}
	}
	return all
}

func (s *stage) document(p delivery.Parcel) (d document, err error) {
	d.parcel = p
	action, err := json.Marshal(map[string]any{s.options.Action: map[string]string{"_index": s.options.Index, "_id": p.Key}})
	if err != nil {
		return d, err
	}
	source, err := delivery.JSON(p.Value)
	if err == nil && !bytes.HasPrefix(source, []byte("{")) {
		err = fmt.Errorf("%.40q is no object of JSON, as documents of an index are", source)
	}
	d.lines = slices.Concat(action, []byte("\n"), source, []byte("\n"))
	return d, err
}

func bulkMessage(documents []document) message {
	m := message{mediaType: "application/x-ndjson", items: len(documents)}
	parcels := make([]delivery.Parcel, len(documents))
	for i, d := range documents {
		parcels[i] = d.parcel
		m.body = append(m.body, d.lines...)
	}
	m.key = delivery.Together(parcels)
	return m
}

// settle reads what became of documents, and returns those that are to be sent again. An error means that the answer
// does not tell.
func (s *stage) settle(sent []document, body []byte, failed []error) (left []document, err error) {
	var answer struct {
		Items []map[string]struct {
			Status int `json:"status"`
			Error  struct {
				Type   string `json:"type"`
				Reason string `json:"reason"`
			} `json:"error"`
		} `json:"items"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("the answer to a bulk request cannot be read: %w", err)
	}
	if len(answer.Items) != len(sent) {
		return nil, fmt.Errorf("the answer to a bulk request tells of %d documents, and %d were sent", len(answer.Items), len(sent))
	}
	for i := range sent {
		if len(answer.Items[i]) != 1 {
			return nil, fmt.Errorf("the answer to a bulk request does not say what became of document %d", i)
		}
	}
	for i, d := range sent {
		for _, said := range answer.Items[i] { // the action is the only key
			reason := said.Error.Type
			if said.Error.Reason != "" {
				reason += ": " + said.Error.Reason
			}
			d.err = fmt.Errorf("%d %s", said.Status, shown([]byte(reason)))
			switch {
			case said.Status >= 200 && said.Status <= 299:
				s.env.Counter("delivered").Add(1)
			case said.Status == http.StatusConflict && s.options.Action == "create": // it was there already
				s.env.Counter("delivered").Add(1)
			case passing(said.Status):
				left = append(left, d)
			default:
				s.giveUp("refused", []document{d}, nil, failed)
			}
		}
	}
	return left, nil
}
