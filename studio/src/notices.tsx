import { store, useStudio } from "./store";

/** What happened, for a while, at the edge of the screen: nothing that must be answered. */
export function Notices() {
  const { notices, link, file } = useStudio();
  return (
    <div className="notices" aria-live="polite" data-testid="notices">
      {link === "lost" && file && (
        <div className="notice error" data-testid="lost">
          <p>The studio is not there just now. What you type is kept, and sent when it is back.</p>
        </div>
      )}
      {notices.map((one) => (
        <div key={one.id} className={`notice ${one.tone}`}>
          <p>{one.text}</p>
          {one.fix && <p className="fix">{one.fix}</p>}
          <button type="button" className="plain" aria-label="Dismiss" onClick={() => store.dismiss(one.id)}>×</button>
        </div>
      ))}
    </div>
  );
}
