// A share of 1 as a ring that fills.

const RADIUS = 5;
const AROUND = 2 * Math.PI * RADIUS;

export function Ring({ share, size = 14 }: { share: number; size?: number }) {
  return (
    <svg aria-hidden="true" className="ring" height={size} viewBox="0 0 14 14" width={size}>
      <circle cx={7} cy={7} fill="none" opacity={0.22} r={RADIUS} stroke="currentColor" strokeWidth={3} />
      <circle
        cx={7}
        cy={7}
        fill="none"
        r={RADIUS}
        stroke="currentColor"
        strokeDasharray={`${Math.max(0, Math.min(1, share)) * AROUND} ${AROUND}`}
        strokeWidth={3}
        transform="rotate(-90 7 7)"
      />
    </svg>
  );
}
