package docs

import (
	_ "embed"
	"fmt"
	"strings"

	views "example.com/loyalty/views/docs"
)

// problemsSource describes every rule that can refuse an API request, a line for each piece:
// "# " a group, "## " slug and title of a rule, "> " the sentence as core has it,
// "Requests: " which ones, "Retry: ", "- " a step, otherwise a paragraph of what
// happened. Backticks mark code.
//
//go:embed problems.md
var problemsSource string

// newProblems returns the list of rules, and the page of each by its slug.
func newProblems(s site) (views.ProblemList, map[string]views.Problem) {
	list := views.ProblemList{Frame: s.frame("Problems · Loyalty", "The business rules that can refuse an API request.", "/problems")}
	pages := map[string]views.Problem{}
	for section := range strings.SplitSeq(problemsSource, "\n\n") {
		if title, ok := strings.CutPrefix(section, "# "); ok {
			id := strings.ReplaceAll(strings.ToLower(title), " ", "-")
			list.Groups = append(list.Groups, views.ProblemGroup{ID: id, Title: title})
			continue
		}
		group := &list.Groups[len(list.Groups)-1]
		problem := s.parseProblem(section)
		problem.Group = group.Title
		pages[problem.Slug] = problem
		group.Problems = append(group.Problems, views.ProblemLink{Slug: problem.Slug, Detail: problem.Detail})
	}
	return list, pages
}

func (s site) parseProblem(section string) views.Problem {
	var p views.Problem
	for l := range strings.Lines(section) {
		mark, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch mark {
		case "##":
			p.Slug, p.Heading, _ = strings.Cut(rest, ": ")
		case ">":
			p.Detail = rest
		case "Requests:":
			for request := range strings.SplitSeq(rest, "; ") {
				method, path, _ := strings.Cut(request, " ")
				p.Requests = append(p.Requests, views.Endpoint{Method: method, Path: path})
			}
		case "Retry:":
			p.Retry = text(rest)
		case "-":
			p.Next = append(p.Next, text(rest))
		default:
			p.Happened = append(p.Happened, text(mark+" "+rest))
		}
	}
	p.Frame = s.frame(p.Heading+" · Loyalty", p.Detail, "/problems/"+p.Slug)
	p.Example = problemDocument(s.base, p.Slug, p.Detail)
	return p
}

// problemDocument returns what the API responds with, laid out for reading. Go and JSON
// quote these sentences alike.
func problemDocument(baseURL, slug, detail string) string {
	return fmt.Sprintf(`{
  "type": %q,
  "title": "Unprocessable Entity",
  "status": 422,
  "detail": %q,
  "code": %q
}`, baseURL+"/problems/"+slug, detail, slug)
}
