/** Creates an issue. These texts are all the queries; what differs between calls is in the variables. */
export const CREATE_ISSUE = `mutation CreateIssue($input: IssueCreateInput!) {
  issueCreate(input: $input) { success issue { id identifier url } }
}`;

/** Comments on an issue. */
export const CREATE_COMMENT = `mutation CreateComment($input: CommentCreateInput!) {
  commentCreate(input: $input) { success comment { id } }
}`;

/** Reads an issue that is known to exist. */
export const READ_ISSUE = `query ReadIssue($id: String!) {
  issue(id: $id) { id identifier url }
}`;

/** Reads who the token is, and the team if it may see it. */
export const CHECK_ACCESS = `query CheckAccess($filter: TeamFilter!) {
  viewer { id }
  teams(filter: $filter, first: 1) { nodes { id } }
}`;
