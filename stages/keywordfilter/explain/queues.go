package explain

import "github.com/webrace/webrace/storage/frontier"

// Queues are the queues of all pipelines that ever had one, open.
type Queues []Queue

// Queue is that of one pipeline, and what its configuration is now.
type Queue struct {
	*frontier.Queue
	Pipeline string
	Matching
}

// Matching is what a pipeline does with its documents.
type Matching struct {
	Everyone  bool // it asks every URD, whichever requested the document
	Unmatched bool // it asks none: it has no stage keyword-filter
	Crawls    bool // it has a queue of URLs: a stage frontier
}

// StatusesOf asks every queue about a URL as it is fetched with these credentials, or none.
func (q Queues) StatusesOf(secret, url string) (all []Status, err error) {
	for _, one := range q {
		explanation, err := one.WhyWith(secret, url)
		if err != nil {
			return nil, err
		}
		all = append(all, Status{one.Pipeline, one.Matching, explanation})
	}
	return all, nil
}

// Statuses asks every queue about a URL, whatever credentials it is fetched with.
func (q Queues) Statuses(url string) (all []Status, err error) {
	for _, one := range q {
		why, err := one.Why(url)
		if err != nil {
			return nil, err
		}
		for _, explanation := range why {
			all = append(all, Status{one.Pipeline, one.Matching, explanation})
		}
	}
	return all, nil
}
