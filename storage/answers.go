package storage

import (
	"net/http"

	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/objects/archive"
)

// Answers returns what the frontier knows of URLs that gave no document, for an archive of those that did. Where
// several pipelines came to a URL, what was answered last counts.
func (d *Dir) Answers() (*archive.Answers, error) {
	frontier, err := d.Frontier()
	if err != nil {
		return nil, err
	}
	pipelines, err := frontier.Pipelines()
	if err != nil {
		return nil, err
	}
	answers := &archive.Answers{}
	for _, pipeline := range pipelines {
		crawls, err := frontier.Crawls(pipeline)
		if err != nil {
			return nil, err
		}
		for _, c := range crawls {
			if c.Secret == "" { // what credentials are shown is exported with a document of theirs alone
				answers.Starts = append(answers.Starts, c.Start)
			}
		}
	}
	answers.Last = func(secret, url string) (last *objects.Answer, err error) {
		for _, pipeline := range pipelines {
			visit, moved, err := frontier.LastAnswer(pipeline, secret, url)
			if err != nil {
				return nil, err
			}
			if visit == nil || last != nil && !visit.At.After(last.At) {
				continue
			}
			last = &objects.Answer{URL: url, Status: visit.Status, At: visit.At, Location: moved}
		}
		if last != nil && last.Location == "" && last.Status != http.StatusNotFound && last.Status != http.StatusGone {
			return nil, nil
		}
		return last, nil
	}
	return answers, nil
}
