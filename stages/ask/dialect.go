package ask

import (
	"encoding/json"
	"net/http"
	"strings"
)

// dialect is which parameters of the API a model takes. The zero value is what most take; it changes by what they
// refuse, one parameter at a time ([dialect.without]).
type dialect struct {
	noTemperature    bool // reasoning models take their own alone
	completionTokens bool // they want max_completion_tokens, which counts what they think too, in place of max_tokens
	format           format
}

// format is how strictly the form of an answer is asked for. What it is like is part of the prompt in any case, and
// the answer is held to its schema here.
type format int

const (
	bySchema format = iota
	anyJSON         // response_format json_object
	anyText         // no response_format
)

// request is the body of a request.
type request struct {
	Model            string    `json:"model"`
	Messages         []message `json:"messages"`
	Temperature      *int      `json:"temperature,omitempty"`
	MaxTokens        int       `json:"max_tokens,omitzero"`
	CompletionTokens int       `json:"max_completion_tokens,omitzero"`
	Stream           bool      `json:"stream"`
	Format           any       `json:"response_format,omitempty"`
}

// write writes the request of a question.
func (d dialect) write(p *prompt) []byte {
	r := request{Model: p.model, Messages: p.messages, MaxTokens: p.answerTokens}
	if !d.noTemperature {
		r.Temperature = new(int)
	}
	if d.completionTokens {
		r.MaxTokens, r.CompletionTokens = 0, p.answerTokens
	}
	switch d.format {
	case bySchema:
		r.Format = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "strict": true, "schema": p.form.schema}}
	case anyJSON:
		r.Format = map[string]any{"type": "json_object"}
	}
	body, err := json.Marshal(r)
	if err != nil {
		panic(err) // of texts and what was read as JSON
	}
	return body
}

// mayRefuse reports whether a status is one by which servers refuse a parameter. llama.cpp has done so with 500.
func mayRefuse(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return false
}

// without returns the dialect that lacks a parameter which a server names as it refuses a request; false if it names
// none that could be left out. It can be called four times in a row at most.
func (d dialect) without(refusal string) (dialect, bool) {
	if named := paramOf(refusal); named != "" {
		refusal = named
	}
	switch {
	case !d.noTemperature && strings.Contains(refusal, "temperature"):
		d.noTemperature = true
	case !d.completionTokens && strings.Contains(refusal, "max_tokens"):
		d.completionTokens = true
	case d.format < anyText && namesFormat(refusal):
		d.format++
	default:
		return d, false
	}
	return d, true
}

// paramOf returns the parameter that is at fault, where the server tells it as OpenAI's does.
func paramOf(refusal string) string {
	var r struct {
		Error struct{ Param string }
	}
	_ = json.Unmarshal([]byte(refusal), &r) // others write what they like
	return r.Error.Param
}

// namesFormat reports whether the form of answers is what a server cannot do: by the parameter, its values, or what it
// makes of a schema.
func namesFormat(refusal string) bool {
	refusal = strings.ToLower(refusal)
	for _, word := range []string{"response_format", "response format", "json_schema", "json_object", "schema", "grammar", "structured output"} {
		if strings.Contains(refusal, word) {
			return true
		}
	}
	return false
}
